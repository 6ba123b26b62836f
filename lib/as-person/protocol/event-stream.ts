/** One event of a `text/event-stream`. Without data, it only contains an id or a pause. */
interface StreamEvent {
  id: string | undefined;
  data: string;
  /** How long to wait before requesting the stream again. */
  retryMs: number | undefined;
}

/**
 * Reads server-sent events (HTML Living Standard, 9.2.6). Drops an event that is cut off by the end of the stream.
 *
 * @throws the errors of reading the chunks
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  let event: StreamEvent = { id: undefined, data: '', retryMs: undefined };
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      yield { ...event, data: data.join('\n') };
      event = { id: undefined, data: '', retryMs: undefined };
      data = [];
      continue;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) event.id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) event.retryMs = Number(value);
  }
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  let held = '';
  for await (const chunk of chunks) {
    let text = held + decoder.decode(chunk, { stream: true });
    // A trailing carriage return may be the first half of a line break.
    held = text.endsWith('\r') ? '\r' : '';
    if (held) text = text.slice(0, -1);
    const [first = '', ...more] = text.split(/\r\n|\n|\r/);
    line += first;
    for (const next of more) {
      yield line;
      line = next;
    }
  }
  if (held) yield line;
}

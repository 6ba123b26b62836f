import { fieldsFor, senders } from '../../cli/senders.ts';
import { withTable } from '../../docs/made-table.ts';

/** docs/guides/senders.md with a line for each sender. */
export function withSenders(page: string): string {
  const rows = Object.entries(senders).map(([name, sender]) => {
    const fields = fieldsFor(sender).map((field) => `\`${field}\``);
    return [
      `[${sender.title}](${sender.docs})${sender.isAssumed ? '¹' : ''}`,
      `\`${name}\``,
      fields.length > 0 ? fields.join('<br>') : 'nothing',
      sender.note ?? '',
    ];
  });
  const head = ['sender', '`webhook:`…', 'fields', 'besides'];
  return withTable(
    page,
    'senders',
    [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
  );
}

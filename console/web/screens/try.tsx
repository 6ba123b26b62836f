import { useState } from 'preact/hooks';
import type { TryFacts } from '../../contract.ts';
import type { ActionOutcome, TryAction } from '../../requests.ts';
import { type ApiError, post } from '../api.ts';
import { Card } from '../card.tsx';
import { Failure, Loaded } from '../failure.tsx';
import { Out } from '../id.tsx';
import { announceOutcome } from '../notice.tsx';
import { Line, seen } from '../outside.tsx';
import { ReadOnlyHint, useRelay } from '../relay-facts.tsx';
import { useResource } from '../resource.ts';
import { Screen } from '../screen.tsx';
import { Scroll } from '../scroll.tsx';
import { At } from '../time.tsx';

/** Returns whether it was done. Undefined in a read-only console. */
type Act = ((action: TryAction) => Promise<boolean>) | undefined;

/** Sends events to the relay on this machine, answers its messages, and sets faults of the sandbox. */
export function TryScreen() {
  const { operate, canTry } = useRelay();
  const resource = useResource<TryFacts>(canTry ? '/api/try' : undefined);
  const [failed, setFailed] = useState<ApiError | undefined>();

  async function send(action: TryAction): Promise<boolean> {
    setFailed(undefined);
    try {
      announceOutcome(await post<ActionOutcome>('/api/try', action));
      return true;
    } catch (error) {
      setFailed(error as ApiError);
      return false;
    } finally {
      resource.reload();
    }
  }

  if (!canTry) {
    return (
      <Screen title="Try">
        <p>
          Try is for a relay on your machine: run <code>npx partner-relay start</code>. This one runs on AWS.
        </p>
      </Screen>
    );
  }
  const act: Act = operate ? send : undefined;
  return (
    <Screen title="Try">
      <ReadOnlyHint />
      {failed && <Failure error={failed} />}
      <Loaded of={resource}>
        {(facts) => (
          <div class="columns">
            <div>
              <Examples examples={facts.examples} act={act} />
              <Faults facts={facts} act={act} />
            </div>
            <div>
              <Messages messages={facts.messages} act={act} />
            </div>
          </div>
        )}
      </Loaded>
    </Screen>
  );
}

function Examples({ examples, act }: { examples: TryFacts['examples']; act: Act }) {
  const events = examples.filter(({ event }) => event !== undefined);
  const commands = examples.filter(({ event }) => event === undefined);
  return (
    <Card id="send" title="Send">
      <EventForm examples={events} act={act} />
      <CommandForm examples={commands} act={act} />
    </Card>
  );
}

function EventForm({ examples, act }: { examples: TryFacts['examples']; act: Act }) {
  const [chosen, setChosen] = useState(examples[0]?.id ?? '');
  const [edited, setEdited] = useState<string | undefined>();
  const example = examples.find(({ id }) => id === chosen);
  if (!example) return null;
  const body = edited ?? example.body;
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        if (await act?.({ do: 'send event', event: example.event ?? '', body })) setEdited(undefined);
      }}
    >
      <label class="field">
        <span>GitHub event</span>
        <select
          value={chosen}
          onChange={({ currentTarget }) => {
            setChosen(currentTarget.value);
            setEdited(undefined);
          }}
        >
          {examples.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <details>
        <summary>Payload</summary>
        <label class="field">
          <span class="hidden">Payload as JSON</span>
          <textarea
            class="code"
            rows={10}
            spellcheck={false}
            value={body}
            onInput={({ currentTarget }) => setEdited(currentTarget.value)}
          />
        </label>
      </details>
      <div class="actions">
        <button type="submit" class="primary" disabled={!act}>
          Send the event
        </button>
      </div>
    </form>
  );
}

function CommandForm({ examples, act }: { examples: TryFacts['examples']; act: Act }) {
  const [text, setText] = useState(examples[0]?.body ?? '/pm help');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void act?.({ do: 'send command', text });
      }}
    >
      <label class="field">
        <span>Slack command</span>
        <input
          value={text}
          list="commands"
          required
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <datalist id="commands">
          {examples.map(({ id, body, title }) => (
            <option key={id} value={body}>
              {title}
            </option>
          ))}
        </datalist>
      </label>
      <div class="actions">
        <button type="submit" disabled={!act}>
          Send the command
        </button>
      </div>
    </form>
  );
}

function Faults({ facts: { faults, faultKinds }, act }: { facts: TryFacts; act: Act }) {
  const [chosen, choose] = useState(0);
  return (
    <Card id="faults" title="Break something">
      {faults.length > 0 && (
        <ul class="plain" aria-label="What is broken now">
          {faults.map(({ id, title }) => (
            <li key={id} class="broken row">
              <strong>
                <Line text={title} />
              </strong>
              <button type="button" disabled={!act} onClick={() => act?.({ do: 'clear fault', id })}>
                Repair
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const kind = faultKinds[chosen];
          if (kind) void act?.({ do: 'set fault', fault: kind.fault });
        }}
      >
        <label class="field">
          <span class="hidden">What to break</span>
          <select value={chosen} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
            {faultKinds.map(({ title }, index) => (
              <option key={title} value={index}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <div class="actions">
          <button type="submit" disabled={!act}>
            Break it
          </button>
        </div>
      </form>
    </Card>
  );
}

function Messages({ messages, act }: { messages: TryFacts['messages']; act: Act }) {
  return (
    <Card id="messages" title="Messages in Slack">
      {messages.length === 0 && (
        <p class="soft">None yet. What the relay sends in Slack appears here: send a command.</p>
      )}
      <Scroll label="Messages, newest first">
        <ol class="slack-messages">
          {messages.map(({ channel, ts, to, parts }) => (
            <li key={`${channel} ${ts}`}>
              <div class="soft small">
                to <Line text={to} length={60} />, <At at={Number(ts) * 1000} />
              </div>
              {parts.map(({ text, buttons }, index) => (
                <div key={index} class="slack-part">
                  {text.length > 0 && (
                    <p class="lines">
                      {text.map((part, at) => (
                        <MessageText key={at} {...part} />
                      ))}
                    </p>
                  )}
                  {buttons.map((button) => (
                    <MessageButton
                      key={button.actionId}
                      button={button}
                      press={
                        act &&
                        (({ actionId, value }) =>
                          act({ do: 'press', channel, ts, actionId, ...(value !== undefined && { value }) }))
                      }
                    />
                  ))}
                </div>
              ))}
            </li>
          ))}
        </ol>
      </Scroll>
    </Card>
  );
}

type Part = TryFacts['messages'][number]['parts'][number];

/** Text of a message, formatted as in Slack. */
function MessageText({ text, is, url }: Part['text'][number]) {
  const shown = <bdi class="outside">{seen(text)}</bdi>;
  if (url !== undefined) {
    return <Out to={url}>{shown}</Out>;
  }
  return is === 'code' ? <code>{shown}</code> : is === 'bold' ? <strong>{shown}</strong> : shown;
}

type Button = Part['buttons'][number];

/** A button with an address opens it, and the relay gets the press, too, as in Slack. */
function MessageButton({ button, press }: { button: Button; press: ((button: Button) => void) | undefined }) {
  const look = button.isPrimary ? 'primary' : '';
  if (button.url !== undefined && /^https?:/.test(button.url)) {
    return (
      <a class={`button ${look}`} href={button.url} target="_blank" rel="noreferrer" onClick={() => press?.(button)}>
        {button.label}
      </a>
    );
  }
  return (
    <button type="button" disabled={!press} class={look} onClick={() => press?.(button)}>
      {button.label}
    </button>
  );
}

import { useState } from 'preact/hooks';
import type { Do } from '../decisions.ts';
import type { ActionResult, JobAction } from '../requests.ts';
import { ApiError, post } from './api.ts';
import { jobs } from './format.ts';
import { announce } from './notice.tsx';
import { seen, Text } from './outside.tsx';
import { Question, Typed } from './question.tsx';
import { useRelay } from './relay-facts.tsx';

interface JobActionsProps {
  ids: readonly string[];
  actions: readonly Do[];
  /** What each decision will do, if it is known for this job. Each button is then beside its text. */
  will?: Partial<Record<Do, string>> | undefined;
  /** What each decision asks for, if it is known for this job: `Id of the defect`, or the question. */
  asks?: Partial<Record<Do, string | undefined>>;
  /** True if the job continues by itself, so that no decision is proposed. */
  isCalm?: boolean;
  done?: () => void;
}

/** The possible changes of one or several jobs, as buttons that ask first. */
export function JobActions({ ids, actions, will, asks, isCalm, done }: JobActionsProps) {
  const { operate, decisions } = useRelay();
  const [asked, ask] = useState<Do | undefined>();
  if (actions.length === 0) return null;
  const button = (action: Do, index: number) => (
    <button
      key={action}
      type="button"
      class={index === 0 && !isCalm ? 'primary' : ''}
      disabled={ids.length === 0}
      onClick={() => ask(action)}
    >
      {`${decisions[action].label}${ids.length > 1 ? ` (${ids.length})` : ''}…`}
    </button>
  );
  return (
    <>
      {will ? (
        <ul class="consequences">
          {actions.map((action, index) => (
            <li key={action}>
              {operate ? button(action, index) : <strong>{decisions[action].label}</strong>}
              <p>
                <Text text={will[action] ?? decisions[action].will} />
              </p>
            </li>
          ))}
        </ul>
      ) : (
        operate && <div class="actions">{actions.map(button)}</div>
      )}
      {asked && (
        <Confirmation
          ids={ids}
          action={asked}
          will={will?.[asked]}
          label={asks?.[asked]}
          close={() => ask(undefined)}
          done={() => {
            ask(undefined);
            done?.();
          }}
        />
      )}
    </>
  );
}

interface ConfirmationProps {
  ids: readonly string[];
  action: Do;
  will: string | undefined;
  label: string | undefined;
  close: () => void;
  done: () => void;
}

function Confirmation({ ids, action, will, label, close, done }: ConfirmationProps) {
  const [answer, setAnswer] = useState('');
  const { title, will: always, confirm, asks, isGrave } = useRelay().decisions[action];
  const many = ids.length === 1 ? 'this job' : jobs(ids.length);
  return (
    <Question
      title={title.replace('{jobs}', many)}
      confirm={confirm.replace('{jobs}', many)}
      isGrave={isGrave}
      close={close}
      send={async () => {
        announceResults(await change(ids, actionOf(action, answer.trim())));
        done();
      }}
    >
      <p>{will ?? always}</p>
      {asks && <Typed {...asks} label={label ?? asks.label} value={answer} change={setAnswer} />}
    </Question>
  );
}

function actionOf(action: Do, answer: string): JobAction {
  if (action === 'discard') return { do: action, reason: answer };
  if (action === 'answer') return { do: action, answer };
  return action === 'done' ? { do: action, createdId: answer } : { do: action };
}

/** The most jobs in one request. */
const AT_ONCE = 100;

async function change(ids: readonly string[], action: JobAction): Promise<ActionResult['results']> {
  const [only, ...others] = ids;
  if (only !== undefined && others.length === 0) {
    const { results } = await post<ActionResult>(`/api/jobs/${encodeURIComponent(only)}`, action);
    const [result] = results;
    // The dialog stays open, so that a person can correct a mistyped id.
    if (result && !result.ok) throw new ApiError(result.text);
    return results;
  }
  const all: ActionResult['results'] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    all.push(...(await post<ActionResult>('/api/jobs', { ids: some, ...action })).results);
  }
  return all;
}

function announceResults(results: ActionResult['results']): void {
  const [first] = results;
  if (results.length === 1 && first) {
    announce(seen(first.text), false, [first.id]);
    return;
  }
  const failed = results.filter(({ ok }) => !ok);
  const done = `${jobs(results.length - failed.length)} changed.`;
  const reasons = failed.map(({ id, text }) => `${id}: ${seen(text)}`);
  announce([done, ...reasons].join('\n'), failed.length > 0);
}

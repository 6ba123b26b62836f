import { useEffect } from 'preact/hooks';
import type { JobDetail, OperatorDecision, StepDetail } from '../../contract.ts';
import { Card } from '../card.tsx';
import { isShown, stepAnchor, stepTitle, timeOf, Waterfall } from '../charts/waterfall.tsx';
import { now } from '../clock.ts';
import { Loaded } from '../failure.tsx';
import { duration } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Id, usePages } from '../id.tsx';
import { JobFiles } from '../job-files.tsx';
import { newsOf, titleOf } from '../job-rows.tsx';
import { NextOf, NextText, WaitsHere } from '../next.tsx';
import { Line, seen, Text, withShortIds } from '../outside.tsx';
import { Fact, Readable } from '../readable.tsx';
import { ReadOnlyHint } from '../relay-facts.tsx';
import { useJob } from '../resource.ts';
import { href, jobHref, lastList, replaceAddress } from '../route.ts';
import { Screen } from '../screen.tsx';
import { Sends } from '../sends.tsx';
import { useValue } from '../state.ts';
import { jobMark, type MarkName, StatusMark } from '../status.tsx';
import { Ago, At, Continues, Since } from '../time.tsx';

const stepMarks = { begun: 'begun', done: 'stepDone', skipped: 'skipped' } as const;

const causes = { github: 'GitHub', slack: 'Slack', webhook: 'Webhook' };

/** One job: its cause, how it used its time, every send, and what to do next. */
export function JobScreen({ id }: { id: string }) {
  const resource = useJob(id);
  const { data: job, error } = resource;
  const untitled = error?.status === 404 ? 'No such job' : 'Job';
  // The address may have the short name.
  useEffect(() => {
    if (job && job.id !== id) replaceAddress(jobHref(job.id));
  }, [job?.id]);
  return (
    <Screen
      title={job ? seen(job.subject).slice(0, 80) : untitled}
      heading={job && <Line text={titleOf(job)} />}
      aside={
        <div class="tools">
          {job && <JobFiles {...job} />}
          <a class="back" href={lastList()} data-back>
            <Icon name="back" />
            Jobs
          </a>
        </div>
      }
    >
      <Loaded of={resource}>{(loaded) => <JobView job={loaded} reload={resource.reload} />}</Loaded>
    </Screen>
  );
}

const isOver = ({ status }: JobDetail) => status === 'succeeded' || status === 'not-done';

function JobView({ job, reload }: { job: JobDetail; reload: () => void }) {
  const pageOf = usePages(job.connection);
  const took = timeOf(job.periods, useValue(now));
  return (
    <>
      <ReadOnlyHint />
      <Head job={job} />
      {!isOver(job) && (
        <section class={job.status === 'parked' ? 'card next urgent' : 'card next'} aria-labelledby="next">
          <h2 id="next">What to do next</h2>
          <NextText next={job.next} />
          {job.status === 'parked' && <WaitsHere connections={[job.connection]} />}
          <NextOf job={job} reload={reload} />
        </section>
      )}
      {took >= 1 && (
        <Card id="time" title="Where the time went">
          <Waterfall job={job} />
        </Card>
      )}
      <Steps job={job} />
      {job.decisions.length > 0 && <Decisions decisions={job.decisions} />}
      <Card id="input" title="Input">
        <Readable value={job.input} pageOf={pageOf} />
      </Card>
    </>
  );
}

function Head({ job }: { job: JobDetail }) {
  const { id, shortName, automation, trigger, connection, lane, subject, person, personName, cause, attempts } = job;
  const { createdAt, finishedAt, personMs = 0 } = job;
  const news = newsOf(job);
  return (
    <section class="job-head" aria-label="About this job">
      <p class="outcome" role="status">
        <StatusMark of={jobMark(job)} />
        {news !== '' && (
          <span>
            <Text text={job.status === 'succeeded' ? withShortIds(news) : news} />
          </span>
        )}
        <Continues job={job} />
      </p>
      <dl class="facts">
        <Fact name="Automation">
          <a href={href('jobs', undefined, { automation })}>{automation}</a>
          {trigger !== undefined && ` ${trigger}`}
        </Fact>
        {!subject.startsWith('slack-') && (
          <Fact name="Subject">
            <a href={href('jobs', undefined, { subject })}>
              <Line text={subject} length={80} />
            </a>
          </Fact>
        )}
        <Fact name="Connection">
          <a href={href('jobs', undefined, { connection })}>{connection}</a>, {lane}
        </Fact>
        {person !== undefined && (
          <Fact name="Person">
            <a href={href('jobs', undefined, { person })}>
              <Line text={personName ?? person} length={60} />
            </a>
          </Fact>
        )}
        <Fact name="Created">
          <At at={createdAt} />
        </Fact>
        {finishedAt === undefined ? (
          <Fact name="So far">
            <Since at={createdAt} />
          </Fact>
        ) : job.status === 'parked' ? (
          <Fact name="Parked">
            <Ago at={finishedAt} />
          </Fact>
        ) : (
          <Fact name="Took">
            {duration(finishedAt - createdAt - personMs)}
            {personMs > 0 && ` and ${duration(personMs)} waiting for a person`}
          </Fact>
        )}
        {attempts > 0 && <Fact name="Failed attempts">{attempts}</Fact>}
        {cause !== undefined && (
          <Fact name="Cause">
            {cause.from === 'job' ? (
              <a href={jobHref(cause.id)}>Another job</a>
            ) : cause.from === 'schedule' ? (
              <>
                Schedule, <At at={Date.parse(cause.id)} />
              </>
            ) : (
              <Id id={cause.id} shown={[causes[cause.from], cause.event].filter(Boolean).join(' ')} />
            )}
          </Fact>
        )}
        <Fact name="Id">
          <Id id={id} shown={shortName} />
        </Fact>
      </dl>
    </section>
  );
}

function Steps({ job }: { job: JobDetail }) {
  const { connection, steps, openCreations, news, status } = job;
  const isOpen = ({ step }: StepDetail) => openCreations.some((one) => one.step === step);
  const markOf = (step: StepDetail): { of: MarkName; text?: string } => {
    if (step.status !== 'failed') return { of: stepMarks[step.status] };
    if (isOpen(step)) return { of: 'unknown', text: 'Outcome unknown' };
    return isOver(job) || status === 'parked' ? { of: 'failed' } : { of: 'not sent', text: 'Failed before' };
  };
  return (
    <Card id="steps" title="Steps">
      {steps.length === 0 && <p class="soft">No step has begun yet.</p>}
      <ol class="steps">
        {steps.filter(isShown).map((step) => (
          <li key={step.step} id={stepAnchor(step.step)} tabIndex={-1}>
            <h3>
              <StatusMark {...markOf(step)} />
              <Line text={stepTitle(step.step)} length={80} />
              <code class="soft">{seen(step.calls)}</code>
              {step.finishedAt !== undefined && step.status !== 'skipped' && (
                <span class="number soft">{duration(step.finishedAt - step.startedAt)}</span>
              )}
            </h3>
            {step.note !== undefined && !news.includes(step.note) && (
              <p>
                <Text text={step.note} />
              </p>
            )}
            {isOpen(step) ? (
              <p class="soft">What was sent is shown above.</p>
            ) : (
              <Sends sends={step.sends} older={step.olderSends} />
            )}
            {step.settledBy !== undefined && (
              <p class="settled">
                <StatusMark of="accepted" text="Settled" />
                <Text text={step.settledBy} />
              </p>
            )}
            {step.result !== undefined && <Result connection={connection} step={step} />}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Result({ connection, step: { calls, result } }: { connection: string; step: StepDetail }) {
  return (
    <div class="result">
      <Readable value={result} pageOf={usePages(connection, calls)} />
    </div>
  );
}

function Decisions({ decisions }: { decisions: readonly OperatorDecision[] }) {
  return (
    <Card id="decisions" title="What operators did">
      <ul class="decisions">
        {decisions.map(({ at, by, what, reason }, index) => (
          <li key={index}>
            <At at={at} />{' '}
            <strong>
              <Line text={what} />
            </strong>{' '}
            by <Line text={by} length={120} />
            {reason !== undefined && (
              <>
                : <Text text={reason} />
              </>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

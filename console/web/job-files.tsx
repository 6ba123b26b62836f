import { useState } from 'preact/hooks';
import type { JobDetail, JobTest } from '../contract.ts';
import { type ApiError, get } from './api.ts';
import { Dialog } from './dialog.tsx';
import { announce, copy } from './notice.tsx';
import { seen } from './outside.tsx';

/** Files that can be made from a job: one for support, and a test for `partner-relay test`. */
export function JobFiles({ id, shortName }: Pick<JobDetail, 'id' | 'shortName'>) {
  const [test, setTest] = useState<JobTest | undefined>();
  const path = `/api/jobs/${encodeURIComponent(id)}`;
  const told = (error: ApiError) => announce(seen(error.message), true);
  const share = async () => {
    const text = JSON.stringify(await get<object>(`${path}/share`), null, 2);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    link.download = `job-${shortName}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
    announce(`Saved: ${link.download}. It has states, times and answers, and none of your texts, names or ids.`);
  };
  const close = () => setTest(undefined);
  return (
    <>
      <button type="button" onClick={() => void share().catch(told)}>
        Share this job
      </button>
      <button type="button" onClick={() => void get<JobTest>(`${path}/test`).then(setTest, told)}>
        Make a test
      </button>
      {test && (
        <Dialog title="A test of this job" close={close}>
          <p>
            Save it as <code>{seen(test.name)}</code>, and run <code>npx partner-relay test</code>.
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{seen(test.text)}</pre>
          <div class="actions end">
            <button type="button" onClick={close}>
              Close
            </button>
            <button type="button" class="primary" onClick={() => copy(test.text, 'text', 'Copied.')}>
              Copy
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

import type { ComponentChildren } from 'preact';
import type { ApiError } from './api.ts';
import { sentence } from './format.ts';
import { Text } from './outside.tsx';
import type { Resource } from './resource.ts';

/** An error message, with a button to try again. */
export function Failure({ error, retry, isOld = false }: { error: ApiError; retry?: () => void; isOld?: boolean }) {
  return (
    <div class="failure" role="alert">
      <p>
        <Text text={sentence(error.message)} />
        {isOld && ' What you see below was read before that.'}
      </p>
      {retry && error.status !== 404 && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shows a resource when its answer arrives, with its error above. */
export function Loaded<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  const { data, error, reload } = of;
  return (
    <>
      {error && <Failure error={error} retry={reload} isOld={data !== undefined} />}
      {data === undefined ? error === undefined && <p class="loading">Loading…</p> : children(data)}
    </>
  );
}

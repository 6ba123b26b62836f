import type { Now, RelayFacts } from '../contract.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { many, timeZone } from './format.ts';
import { Icon } from './icons.tsx';
import { isHelpOpen, KEYS, SCREENS } from './keyboard.ts';
import { connection } from './live.ts';
import { Notices } from './notice.tsx';
import { isBroken } from './outages.tsx';
import { Line } from './outside.tsx';
import { Relay } from './relay-facts.tsx';
import { useResource } from './resource.ts';
import { href, type Route, route } from './route.ts';
import { Screen } from './screen.tsx';
import { JobScreen } from './screens/job.tsx';
import { JobsScreen } from './screens/jobs.tsx';
import { LinksScreen } from './screens/links.tsx';
import { NowScreen } from './screens/now.tsx';
import { ParkedScreen } from './screens/parked.tsx';
import { TryScreen } from './screens/try.tsx';
import { isRefused, token } from './session.ts';
import { useValue } from './state.ts';

/** The console: the navigation, the screen of the address, and notices about changes. */
export function App() {
  const hasToken = useValue(token) !== undefined;
  const wasRefused = useValue(isRefused);
  if (!hasToken || wasRefused) return <NoToken wasRefused={wasRefused} />;
  return <Console />;
}

function Console() {
  const facts = useResource<RelayFacts>('/api/relay', (news) => news === 'all');
  const current = useValue(route);
  const { screen, id } = current;
  const isAsked = useValue(isHelpOpen);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Head facts={facts.data} />
      <main id="main" tabIndex={-1}>
        {facts.data ? (
          <Relay.Provider value={facts.data}>
            <div key={`${screen}/${id}`}>
              <ScreenOf route={current} />
            </div>
          </Relay.Provider>
        ) : (
          facts.error && (
            <Screen title={facts.error.status === undefined ? 'The relay does not answer' : 'The relay failed'}>
              <Failure error={facts.error} retry={facts.reload} />
              <HowToOpen />
            </Screen>
          )
        )}
      </main>
      <Notices />
      {isAsked && <KeyHelp />}
    </>
  );
}

function ScreenOf({ route: { screen, id } }: { route: Route }) {
  switch (screen) {
    case 'now':
      return <NowScreen />;
    case 'jobs':
      return id === undefined ? <JobsScreen /> : <JobScreen id={id} />;
    case 'parked':
      return <ParkedScreen />;
    case 'links':
      return <LinksScreen />;
    case 'try':
      return <TryScreen />;
    default:
      return (
        <Screen title="Not found">
          <p>
            The console has no such screen. <a href={href('now')}>Go to Now</a>
          </p>
        </Screen>
      );
  }
}

function Head({ facts }: { facts: RelayFacts | undefined }) {
  const now = useResource<Now>('/api/now').data;
  const { screen: current } = useValue(route);
  return (
    <header class="head">
      <a class="brand" href={href('now')}>
        <img src="/icon.svg" alt="" width="24" height="24" />
        <span>
          Partner Relay
          <small>
            {facts && <Line text={facts.name} length={30} />}
            {now?.stopped && ' (stopped)'}
          </small>
        </span>
      </a>
      <nav aria-label="Screens">
        <ul>
          {SCREENS.map(({ screen, label }, index) => {
            if (screen === 'try' && facts && !facts.canTry) return null;
            const parked = screen === 'parked' ? now?.counts.parked : undefined;
            const broken = screen === 'now' && now?.connections.some(isBroken);
            return (
              <li key={screen}>
                <a href={href(screen)} data-key={index + 1} aria-current={screen === current ? 'page' : undefined}>
                  <Icon name={screen} />
                  <span>{label}</span>
                  {broken && (
                    <span class="badge">
                      !<span class="hidden"> a connection does not work</span>
                    </span>
                  )}
                  {parked !== undefined && parked.jobs > 0 && (
                    <span class="badge">
                      {many(parked)}
                      <span class="hidden">{parked.jobs === 1 ? ' job' : ' jobs'}</span>
                    </span>
                  )}
                </a>
              </li>
            );
          })}
        </ul>
      </nav>
      <div class="foot">
        {facts && (
          <>
            <ConnectionStatus />
            <p class="small" title={facts.operator}>
              {facts.operate ? 'Operator: ' : 'Read-only: '}
              <Line text={facts.operator.split('/').at(-1) ?? facts.operator} length={40} />
            </p>
          </>
        )}
        <p class="small">Times in {timeZone}</p>
        <button type="button" class="quiet small" onClick={() => (isHelpOpen.value = true)}>
          Keys <kbd>?</kbd>
        </button>
      </div>
    </header>
  );
}

const connectionTexts = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'No connection. Trying again…',
  hidden: 'Paused',
} as const;

function ConnectionStatus() {
  const state = useValue(connection);
  return (
    <p class={`connection ${state}`} role="status">
      <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
        <circle cx="5" cy="5" r="4" class={state === 'live' ? 'fill' : 'line'} />
      </svg>
      {connectionTexts[state]}
    </p>
  );
}

function KeyHelp() {
  return (
    <Dialog title="Keys" close={() => (isHelpOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="actions end">
        <button type="button" class="primary" onClick={() => (isHelpOpen.value = false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function HowToOpen() {
  return (
    <>
      <p>To open the relay that runs now:</p>
      <pre>npx partner-relay console --open</pre>
      <p class="soft small">
        <code>npx partner-relay start</code> starts a relay. For a stage, write <code>--stage prod</code> before{' '}
        <code>console</code>.
      </p>
    </>
  );
}

function NoToken({ wasRefused }: { wasRefused: boolean }) {
  return (
    <main id="main" class="no-token">
      <section class="card">
        <img src="/icon.svg" alt="" width="40" height="40" />
        <h1>{wasRefused ? 'The token is not accepted' : 'Open the address that the relay printed'}</h1>
        <p>
          {wasRefused
            ? 'It is incomplete, or from an earlier start of the relay.'
            : 'This page needs the token at the end of that address, after the #. The token stays in your browser.'}
        </p>
        <HowToOpen />
      </section>
    </main>
  );
}

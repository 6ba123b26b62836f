import { render } from 'preact';
import { App } from './app.tsx';
import { startClock } from './clock.ts';
import { startKeyboard } from './keyboard.ts';
import { startLive } from './live.ts';
import { startRouting } from './route.ts';
import { rememberItem } from './screen.tsx';
import { answerOtherTabs, openSession } from './session.ts';

await openSession();
answerOtherTabs();
startClock();
startRouting();
void startLive();
startKeyboard();
// When a person returns to a list, the focus returns to the item that they opened.
document.addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest<HTMLElement>('a:not([data-back])') : null;
  if (link) rememberItem(link.dataset.item);
});
const root = document.getElementById('console');
if (root) render(<App />, root);

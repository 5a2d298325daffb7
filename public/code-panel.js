// The panel that shows what was just done as a program, and copies it.
import { sampleOf } from './code-samples.js';

const COPIED_MS = 2000;

/**
 * Returns a function that takes what was done; see `Action` of code-samples.js. `hasKey()`: the user has a
 * key.
 */
export function joinCode(element, first, hasKey) {
  let action = first;
  const kind = () => document.querySelector('input[name=code-kind]:checked').value;
  const server = new URL('.', document.baseURI).href.replace(/\/$/, '');
  const show = () => {
    element('code').textContent = sampleOf(kind(), action, { server, hasKey: hasKey() });
  };
  for (const radio of document.querySelectorAll('input[name=code-kind]'))
    radio.addEventListener('change', show);
  let timer;
  element('copy').addEventListener('click', async () => {
    const told = (await copied(element('code')))
      ? 'Copied.'
      : 'The browser does not let the page copy: the text is selected.';
    element('copy-note').textContent = told;
    clearTimeout(timer);
    timer = setTimeout(() => (element('copy-note').textContent = ''), COPIED_MS);
  });
  show();
  return (done) => {
    action = done;
    show();
  };
}

/** False: the text is selected, for the user to copy it. Pages without TLS have no clipboard. */
async function copied(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return false;
  }
}

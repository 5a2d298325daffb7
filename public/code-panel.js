// The panel that shows what was just done as a program, and copies it. A program that is copied has the key of
// the user in it, so that it runs as it is. The one that is shown has not: screens are shared.
import { sampleOf } from './code-samples.js';

const COPIED_MS = 4000;

/** Returns a function that takes what was done, see `Action` of code-samples.js, or shows the last again. `key()` may be empty. */
export function joinCode(element, first, key) {
  let action = first;
  const kind = () => document.querySelector('input[name=code-kind]:checked').value;
  const server = new URL('.', document.baseURI).href.replace(/\/$/, '');
  const sample = (own) => sampleOf(kind(), action, { server, hasKey: key() !== '', ...own });
  const show = () => (element('code').textContent = sample());
  for (const radio of document.querySelectorAll('input[name=code-kind]'))
    radio.addEventListener('change', show);
  let timer;
  element('copy').addEventListener('click', async () => {
    const program = key() === '' ? sample() : sample({ key: key() });
    const hasKey = program !== sample();
    const told = (await copied(program, element('code')))
      ? `Copied.${hasKey ? ' Your API key is in it: keep it private.' : ''}`
      : `The browser does not let the page copy: the text is selected.${hasKey ? ' Put your API key in.' : ''}`;
    element('copy-note').textContent = told;
    clearTimeout(timer);
    timer = setTimeout(() => (element('copy-note').textContent = ''), COPIED_MS);
  });
  show();
  return (done = action) => {
    action = done;
    show();
  };
}

/**
 * False: the text that is shown is selected, for the user to copy it. Pages without TLS have no clipboard, but
 * they may say what a copy of the selection is.
 */
export async function copied(program, shown) {
  try {
    await navigator.clipboard.writeText(program);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    const put = (event) => {
      event.clipboardData.setData('text/plain', program);
      event.preventDefault();
    };
    document.addEventListener('copy', put, { once: true });
    const isCopied = document.execCommand('copy');
    document.removeEventListener('copy', put);
    return isCopied;
  }
}

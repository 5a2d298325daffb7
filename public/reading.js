// Shows what is made of a text before it is spoken: its sentences in words, and the rule behind each change.
import { authorization, refusalOf } from './parley-http.js';

const NORMALIZE = 'v1/text/normalize';
const PAUSE_MS = 400; // after the last change of the text
const MOST_RULES = 60;

/**
 * The panel is a `details` element, and asks the server while it is open. `page` has `text()`, `language()`,
 * `key()` and `did(action)`.
 */
export function joinReading(element, page) {
  const panel = element('reading');
  let timer;
  let running = new AbortController();
  const look = async () => {
    running.abort();
    const own = (running = new AbortController());
    const text = page.text();
    if (text === '') return show(element, 'Type a text above to see it.', []);
    try {
      const sentences = await readingOf(text, page, own.signal);
      if (own.signal.aborted) return undefined;
      page.did({ type: 'reading', text, language: page.language() });
      return show(element, '', sentences);
    } catch (error) {
      return own.signal.aborted ? undefined : show(element, error.message, []);
    }
  };
  const soon = () => {
    clearTimeout(timer);
    if (panel.open) timer = setTimeout(() => void look(), PAUSE_MS);
  };
  panel.addEventListener('toggle', () => panel.open && void look());
  element('text').addEventListener('input', soon);
  element('language').addEventListener('change', soon);
  return soon;
}

async function readingOf(text, page, signal) {
  const language = page.language();
  const answer = await fetch(NORMALIZE, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...authorization(page.key()) },
    body: JSON.stringify({ text, ...(language === '' ? {} : { language }) }),
    signal,
  });
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()).sentences;
}

function show(element, note, sentences) {
  element('reading-note').textContent = note;
  element('reading-note').hidden = note === '';
  element('reading-spoken').textContent = sentences.map(({ spoken = '(a tone)' }) => spoken).join(' ');
  const rules = sentences.flatMap((sentence) => sentence.rules ?? []).slice(0, MOST_RULES);
  element('reading-rules').replaceChildren(...rules.map(rowOf));
  element('reading-rules').hidden = rules.length === 0;
}

function rowOf({ rule, written, spoken }) {
  const row = document.createElement('li');
  const [from, to, name] = ['del', 'ins', 'span'].map((tag) => document.createElement(tag));
  from.textContent = written;
  to.textContent = spoken === '' ? '(nothing)' : spoken;
  name.textContent = rule;
  name.className = 'rule';
  row.append(from, ' → ', to, ' ', name);
  return row;
}

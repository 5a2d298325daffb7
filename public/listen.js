// The panel that listens: live captions of the microphone, and files. What is missing for them is said before
// a button is pressed.
import { isInsecure, watchMicrophone } from './abilities.js';
import { srtOf, transcribeFile } from './file-transcript.js';
import { LiveCaptions } from './live-captions.js';
import { CallError } from './parley-http.js';

const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'tr',
  'ru',
  'uk',
  'ar',
  'hi',
  'zh',
  'ja',
  'ko',
];
const SENDING = 'The file is being sent.';
const NO_SPEECH = 'No speech was found.';
const NO_RECOGNISER = 'This server recognises no speech.';
const RECOGNITION = 'guide/recognition';
const NAMES = new Intl.DisplayNames('en', { type: 'language' });

/**
 * `page` has the API key and shows problems: `key()`, `askForKey()`, `showProblem(text)`. Returns a function
 * that takes whether the server recognises speech (undefined: unknown), and the command that fetches a recogniser.
 */
export function joinListening(element, page) {
  const captions = joinLive(element, page);
  joinFile(element, page);
  let [recognises, command, microphone] = [undefined, undefined, ''];
  const show = () => {
    const hasNone = recognises === false;
    showMissing(element('live-missing'), hasNone ? NO_RECOGNISER : microphone, command);
    showMissing(element('file-missing'), hasNone ? NO_RECOGNISER : '', command);
    element('listen').disabled = !captions.isOpen && (hasNone || isInsecure());
    element('transcribe').disabled = hasNone;
  };
  void watchMicrophone((reason) => {
    microphone = reason;
    show();
  });
  return (isRecogniser, earsCommand) => {
    [recognises, command] = [isRecogniser, earsCommand];
    show();
  };
}

function showMissing(note, text, command) {
  if (note.dataset.text === text) return; // a screen reader would read it again
  note.dataset.text = text;
  note.replaceChildren(text, ...(text === NO_RECOGNISER ? curesOf(command) : []));
  note.hidden = text === '';
}

function curesOf(command) {
  const link = document.createElement('a');
  [link.href, link.textContent] = [RECOGNITION, 'How to set it up'];
  if (command === undefined) return [' ', link];
  const code = document.createElement('code');
  code.textContent = command;
  return [' ', code, ' fetches a recogniser for English; then restart the server. ', link];
}

function joinLive(element, page) {
  const button = element('listen');
  const captions = new LiveCaptions({
    list: element('live'),
    empty: element('live-empty'),
    announce: element('live-announce'),
    onEnd: (problem) => {
      setPressed(false);
      if (problem !== '') page.showProblem(problem);
    },
  });
  const setPressed = (isOn) => {
    button.setAttribute('aria-pressed', String(isOn));
    button.textContent = isOn ? 'Stop listening' : 'Start listening';
  };
  button.addEventListener('click', async () => {
    page.showProblem('');
    if (captions.isOpen) return captions.stop();
    setPressed(true);
    try {
      await captions.start(page.key());
    } catch (error) {
      setPressed(false);
      page.showProblem(error.message);
    }
    return undefined;
  });
  addEventListener('pagehide', () => captions.stop());
  return captions;
}

function joinFile(element, page) {
  for (const tag of LANGUAGES) element('into').append(new Option(NAMES.of(tag), tag));
  let running;
  element('transcribe-stop').addEventListener('click', () => running?.abort());
  element('file-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const [file] = element('file').files;
    if (file === undefined) return;
    running?.abort();
    const own = new AbortController();
    running = own;
    page.showProblem('');
    showWork(element, true);
    try {
      const into = element('into').value;
      const onProgress = (share, text) => showProgress(element, share, text);
      const result = await transcribeFile(file, { into, key: page.key(), signal: own.signal, onProgress });
      showResult(element, file, result);
    } catch (error) {
      if (!own.signal.aborted) showFailure(page, error);
    } finally {
      if (running === own) showWork(element, false);
    }
  });
}

function showWork(element, isWorking) {
  if (!isWorking && document.activeElement === element('transcribe-stop')) element('transcribe').focus();
  element('file-progress').hidden = !isWorking;
  element('file-progress').removeAttribute('value');
  element('transcribe-stop').hidden = !isWorking;
  element('file-state').textContent = isWorking ? SENDING : '';
  // A screen reader is told the beginning and the end, but not the progress, which changes many times.
  if (isWorking) element('file-announce').textContent = SENDING;
  if (isWorking) element('result').hidden = true;
}

function showProgress(element, share, text) {
  element('file-progress').value = Math.min(1, share);
  const words = text.split(/\s+/).filter(Boolean).length;
  element('file-state').textContent = `${Math.round(Math.min(1, share) * 100)} % read, ${words} words so far`;
}

function showResult(element, file, { text, vtt }) {
  element('result').hidden = false;
  element('result-text').textContent = text === '' ? NO_SPEECH : text;
  element('file-announce').textContent = text === '' ? NO_SPEECH : 'The text of the file is shown.';
  const name = file.name.replace(/\.[^.]*$/, '');
  for (const [kind, content, type] of [
    ['srt', srtOf(vtt), 'application/x-subrip'],
    ['vtt', vtt, 'text/vtt'],
  ]) {
    const link = element(`result-${kind}`);
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = `${name}.${kind}`;
  }
}

function showFailure(page, error) {
  page.showProblem(error instanceof CallError ? error.message : 'The server does not answer. Is it running?');
  if (error.status === 401) page.askForKey();
}

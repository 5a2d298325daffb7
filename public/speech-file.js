// Speech as a file over HTTP: the settings of the form, the request, and the sound with its download.
import { authorization, CallError, refusalOf } from './parley-http.js';

const SPEECH = 'v1/audio/speech';
const LIMIT_MS = 120_000; // for the whole sound
const LOST = 'The server does not answer, or the sound broke off.';
const ENDINGS = { ulaw_8000: 'ulaw', alaw_8000: 'alaw' };

/**
 * Resolves with {blob, ignored}: the sound, and the fields that its voice ignores. Rejects with CallError.
 */
export async function makeSpeech(request, key, signal = new AbortController().signal) {
  try {
    const answer = await fetch(SPEECH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...authorization(key) },
      body: JSON.stringify(request),
      signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
    });
    if (!answer.ok) throw await refusalOf(answer);
    return { blob: await answer.blob(), ignored: answer.headers.get('X-Ignored-Fields') ?? '' };
  } catch (cause) {
    throw cause instanceof CallError ? cause : new CallError(LOST, 0, { cause });
  }
}

/** The settings of the form for files: speed, format, language and instructions. */
export class SpeechSettings {
  #element;

  constructor(element) {
    this.#element = element;
    const speed = element('speed');
    const show = () => (element('speed-value').textContent = `${Number(speed.value).toFixed(2)} ×`);
    speed.addEventListener('input', show);
    show();
  }

  get language() {
    return this.#element('language').value;
  }

  /** The request for a text; fields that are at their defaults are left out. */
  requestFor(text, voice) {
    const speed = Number(this.#element('speed').value);
    const instructions = this.#element('instructions').value.trim();
    return {
      input: text,
      ...(voice === '' ? {} : { voice }),
      ...(this.language === '' ? {} : { language: this.language }),
      response_format: this.#element('format').value,
      ...(speed === 1 ? {} : { speed }),
      ...(instructions === '' ? {} : { instructions }),
    };
  }
}

/**
 * A player, if the browser can play the format, and a link that saves the file. `name` tells it from other
 * sounds of the page.
 */
export function soundOf({ blob, ignored }, { response_format: format }, name) {
  const url = URL.createObjectURL(blob);
  const sound = document.createElement('div');
  sound.className = 'sound';
  if (new Audio().canPlayType(blob.type) !== '') {
    const player = document.createElement('audio');
    player.controls = true;
    player.src = url;
    player.setAttribute('aria-label', `Sound of ${name}`);
    sound.append(player);
  }
  const link = document.createElement('a');
  link.className = 'button small';
  link.href = url;
  link.download = `parley.${ENDINGS[format] ?? format}`;
  link.textContent = `Download ${link.download} (${Math.max(1, Math.round(blob.size / 1024))} KiB)`;
  link.setAttribute('aria-label', `${link.textContent}, ${name}`);
  sound.append(link);
  if (ignored !== '') {
    const note = document.createElement('p');
    note.className = 'hint';
    note.textContent = `This voice ignores: ${ignored}.`;
    sound.append(note);
  }
  return sound;
}

/** The sound leaves the page. */
export function forgetSound(sound) {
  const link = sound.querySelector('a[download]');
  if (link !== null) URL.revokeObjectURL(link.href);
  sound.remove();
}

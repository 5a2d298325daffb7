// The field of voices: a list by engine and language, a search in it, and a sample of the chosen voice.
import { authorization, CallError, refusalOf } from './parley-http.js';
import { makeSpeech } from './speech-file.js';

const VOICES = 'v1/audio/voices';
const FEW = 12; // voices that need no search
const SAMPLE = 'Good morning! This is how I sound.';
const NO_ANSWER = 'The server does not answer. Reload the page once it is running.';
const LANGUAGES = new Intl.DisplayNames('en', { type: 'language' });
const AUTOMATIC = 'Automatic, by language';

/** Sentences for samples. In other languages the voice says the name of its language. */
const SAMPLES = {
  en: SAMPLE,
  de: 'Guten Morgen! So klinge ich.',
  fr: 'Bonjour ! Voici ma voix.',
  es: '¡Buenos días! Así sueno yo.',
  it: 'Buongiorno! Questa è la mia voce.',
  pt: 'Bom dia! É assim que eu falo.',
  nl: 'Goedemorgen! Zo klink ik.',
  ru: 'Доброе утро! Вот мой голос.',
  zh: '早上好！这是我的声音。',
  ja: 'おはようございます。これが私の声です。',
  ko: '안녕하세요. 제 목소리입니다.',
};

export class VoiceField {
  #element;
  #page;
  /** Those of the server: {name, engine, languages, description}. */
  #voices = [];
  /** Ends the sample that is being made or played. */
  #sample;
  #audio = new Audio();

  /** `page` has `key()`, `askForKey()`, `keyAccepted()`, `showProblem(text)` and `did(action)`. */
  constructor(element, page) {
    this.#element = element;
    this.#page = page;
    element('voice-search').addEventListener('input', () => this.#show());
    element('sample').addEventListener('click', () => void this.#toggleSample());
    element('voice').addEventListener('change', () => this.#sample?.abort());
    this.#audio.addEventListener('ended', () => this.#sample?.abort());
  }

  get chosen() {
    return this.#element('voice').value;
  }

  /** Loads the voices, and asks for a key if the server wants one. */
  async load() {
    try {
      const answer = await fetch(VOICES, { headers: authorization(this.#page.key()) }).catch((cause) => {
        throw new CallError(NO_ANSWER, 0, { cause });
      });
      if (!answer.ok && answer.status !== 401) throw await refusalOf(answer);
      if (answer.status === 401) return this.#page.askForKey();
      this.#voices = (await answer.json()).voices;
      void this.#page.keyAccepted();
      this.#element('voice-search-field').hidden = this.#voices.length <= FEW;
      this.#show();
      this.#showLanguages();
    } catch (error) {
      if (error.status === 401) this.#page.askForKey();
      else this.#page.showProblem(error instanceof CallError ? error.message : NO_ANSWER);
    }
    return undefined;
  }

  /**
   * The list has the voices that have each word of the search in their name, engine, language or description.
   */
  #show() {
    const words = this.#element('voice-search').value.toLowerCase().split(/\s+/);
    const found = this.#voices.filter((voice) => words.every((word) => describe(voice).includes(word)));
    const { chosen } = this;
    const list = this.#element('voice');
    list.replaceChildren(new Option(AUTOMATIC, ''), ...groupsOf(found));
    const isFound = found.some(({ name }) => name === chosen);
    const isSearching = words.join('') !== '';
    // A search chooses its first result, so that the sample and the next text have it.
    list.value = isFound ? chosen : isSearching ? (list.querySelector('optgroup option')?.value ?? '') : '';
    this.#element('voice-found').textContent = isSearching
      ? `${found.length} of ${this.#voices.length} voices`
      : '';
  }

  #showLanguages() {
    const tags = new Set(this.#voices.flatMap(({ languages }) => languages.map((tag) => tag.split('-')[0])));
    const options = [...tags].map((tag) => new Option(LANGUAGES.of(tag), tag));
    options.sort((a, b) => a.text.localeCompare(b.text));
    this.#element('language').replaceChildren(new Option('Automatic, by text', ''), ...options);
  }

  async #toggleSample() {
    if (this.#sample !== undefined) return this.#sample.abort();
    const own = new AbortController();
    this.#sample = own;
    own.signal.addEventListener('abort', () => {
      this.#audio.pause();
      if (this.#sample === own) this.#sample = undefined;
      this.#label(this.#sample !== undefined);
    });
    this.#label(true);
    this.#page.showProblem('');
    try {
      const request = this.#sampleRequest();
      const { blob } = await makeSpeech(request, this.#page.key(), own.signal);
      URL.revokeObjectURL(this.#audio.src);
      this.#audio.src = URL.createObjectURL(blob);
      await this.#audio.play();
      this.#page.did({ type: 'file', request });
    } catch (error) {
      if (own.signal.aborted) return undefined;
      own.abort();
      this.#page.showProblem(
        error instanceof CallError ? error.message : `There is no sample: ${error.message}`,
      );
      if (error.status === 401) this.#page.askForKey();
    }
    return undefined;
  }

  #sampleRequest() {
    const voice = this.#voices.find(({ name }) => name === this.chosen);
    const tag = voice?.languages[0] ?? 'en';
    const [language] = tag.split('-');
    const input = SAMPLES[language] ?? new Intl.DisplayNames([tag], { type: 'language' }).of(tag);
    return { input, response_format: 'mp3', ...(voice === undefined ? {} : { voice: voice.name, language }) };
  }

  #label(isPlaying) {
    const button = this.#element('sample');
    button.textContent = isPlaying ? 'Stop' : 'Sample';
    button.setAttribute('aria-pressed', String(isPlaying));
  }
}

function describe({ name, engine, description, languages }) {
  const spoken = languages.map((tag) => LANGUAGES.of(tag));
  return [name, engine, description, ...languages, ...spoken].join(' ').toLowerCase();
}

/** A group for each engine, by name within it; an engine of one language is named with that. */
function groupsOf(voices) {
  const engines = [...new Set(voices.map(({ engine }) => engine))];
  return engines.map((engine) => {
    const own = voices.filter((voice) => voice.engine === engine);
    const languages = new Set(own.map(({ languages: [tag] }) => tag?.split('-')[0]));
    const [language] = languages;
    const group = document.createElement('optgroup');
    group.label = languages.size === 1 && language ? `${LANGUAGES.of(language)} · ${engine}` : engine;
    const options = own.map(({ name, description }) => new Option(`${description || name} (${name})`, name));
    group.append(...options.sort((a, b) => a.text.localeCompare(b.text)));
    return group;
  });
}

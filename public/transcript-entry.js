// One entry of the transcript: a text that waits, is spoken, was spoken or cut off, or was made a file.
import { forgetSound } from './speech-file.js';
import { codeEnd, SENTENCE_BREAK, spokenNodes, spokenText } from './spoken-text.js';

const TAGS = {
  waiting: 'Waiting',
  speaking: 'Speaking',
  spoken: 'Spoken',
  interrupted: 'Interrupted',
  failed: 'Failed',
  refused: 'Refused',
  file: 'File',
};

const NAME_LENGTH = 60; // characters of a text in the names of its controls

export class Entry {
  element = document.createElement('li');
  over = false;
  #number;
  #text;
  /** Its text is known from its sentences only, as they begin. */
  #grows;
  #tag = make('span', 'tag');
  #details = make('span', '');
  #said = make('p', 'said');
  /** Everything before it has been spoken. */
  #spokenTo = 0;
  /** The sentence being spoken ends here. */
  #speakingTo = 0;
  #firstPacketMs;
  /** From the end of the caller's words to the first packet. */
  #answerMs;
  #note = make('p', 'pauses');
  #isPaused = false;
  #resumptions = 0;
  /** The sentence that is being spoken, and the place of the word in it that is heard now. */
  #sentence = '';
  #word;
  #voice;
  #onReplay;
  #sound;

  /**
   * `number` is another one for each entry. `voice` is the name of the one that was chosen, or empty. `onReplay(text, entry)` makes a file of the
   * text that was heard.
   */
  constructor(text, { number, voice = '', onReplay }) {
    this.#number = number;
    this.#text = text;
    this.#voice = voice;
    this.#onReplay = onReplay;
    this.#grows = text === '';
    this.element.className = 'entry';
    const head = make('p', 'entry-head');
    head.append(this.#tag, this.#details);
    this.#note.hidden = true;
    this.element.append(head, this.#said, this.#note);
    this.#show('waiting');
  }

  get begun() {
    return this.#firstPacketMs !== undefined;
  }

  get heard() {
    return this.#text.slice(0, this.#spokenTo);
  }

  /** What was spoken, without marks of Markdown. */
  get spoken() {
    return spokenText(this.#text, 0, this.#spokenTo).trim();
  }

  /** Tells its controls from those of other entries, which may have the same text. */
  get name() {
    const text = this.spoken;
    const begin = text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH).trimEnd()}…` : text;
    return `text ${this.#number}: “${begin}”`;
  }

  get voice() {
    return this.#voice;
  }

  /** The text becomes a file, and is spoken in no call. */
  asFile() {
    this.#spokenTo = this.#text.length;
    this.#show('file');
  }

  /** A player and a download; undefined: the file is being made. */
  showSound(sound) {
    if (this.#sound !== undefined) forgetSound(this.#sound);
    this.#sound = sound ?? make('p', 'hint');
    if (sound === undefined) this.#sound.textContent = 'The sound is being made.';
    this.element.append(this.#sound);
  }

  /** The reason for which there is no file. */
  showFailure(reason) {
    this.showSound(undefined);
    this.#sound.className = 'reason';
    this.#sound.textContent = reason;
  }

  started(firstPacketMs) {
    this.#firstPacketMs = firstPacketMs;
    this.#show('speaking');
  }

  /** It answers the caller, after this many milliseconds. */
  answersAfter(ms) {
    this.#answerMs = ms;
    this.#show(this.element.dataset.end);
  }

  speaking(sentence) {
    if (this.#grows) this.#text += this.#text === '' ? sentence : `${SENTENCE_BREAK}${sentence}`;
    [this.#sentence, this.#word] = [sentence, undefined];
    this.#speakingTo = endOf(sentence, this.#text, this.#spokenTo) ?? this.#speakingTo;
    this.#show('speaking');
  }

  /** A word of the sentence begins to be heard; places are in the sentence. */
  wordBegins({ start, end }) {
    const from = endOf(this.#sentence.slice(0, start), this.#text, this.#spokenTo);
    const to = endOf(this.#sentence.slice(0, end), this.#text, this.#spokenTo);
    if (from === undefined || to === undefined || to > this.#speakingTo) return;
    this.#word = { from, to };
    this.#show('speaking');
  }

  passed(sentence) {
    this.#spokenTo = endOf(sentence, this.#text, this.#spokenTo) ?? this.#speakingTo;
    this.#speakingTo = this.#spokenTo;
    this.#word = undefined;
    this.#show('speaking');
  }

  /** The caller has begun to speak. */
  paused() {
    this.#isPaused = true;
    this.#say('Paused, because you began to speak.');
  }

  /** An event may come twice after a change of the connection. */
  resumed() {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#resumptions++;
    const times = this.#resumptions === 1 ? '' : ` ${this.#resumptions} times`;
    this.#say(`Paused${times} and went on with the unfinished word: the sound was no speech, or too short.`);
  }

  /** Of the text that was sent before an interruption, `heard` had reached the caller. */
  heardUpTo(heard, text) {
    const notes = this.#isPaused ? ['Stopped, because you spoke.'] : [];
    if (heard === '' && text !== '') notes.push('Nothing of it had reached you yet.');
    else if (heard !== undefined && heard !== text && text.startsWith(heard)) {
      const rest = spokenText(this.#text, endOf(heard, this.#text, 0), this.#spokenTo).trim();
      if (rest !== '') notes.push(`“${rest}” had not reached you yet.`);
    }
    if (notes.length > 0) this.#say(notes.join(' '));
  }

  #say(note) {
    this.#note.hidden = false;
    this.#note.textContent = note;
  }

  /** `heard` is what the server says was heard; undefined means all of it. */
  ended(end, heard, durationMs, reason) {
    this.over = true;
    this.#spokenTo =
      heard === undefined ? this.#text.length : (endOf(heard, this.#text, 0) ?? this.#spokenTo);
    this.#speakingTo = this.#spokenTo;
    this.#show(end, durationMs);
    if (reason !== undefined) {
      const line = make('p', 'reason');
      line.textContent = reason;
      this.element.append(line);
    }
    if (this.#onReplay !== undefined && this.heard.trim() !== '') this.#offerReplay();
  }

  #offerReplay() {
    const button = make('button', 'link');
    button.type = 'button';
    button.textContent = 'Replay';
    button.setAttribute('aria-label', `Replay ${this.name}`);
    button.addEventListener('click', () => this.#onReplay(this.heard.trim(), this));
    this.element.querySelector('.entry-head').append(button);
  }

  #show(end, durationMs) {
    this.element.dataset.end = end;
    this.#tag.textContent = TAGS[end];
    const details = [];
    if (this.#answerMs !== undefined) details.push(`answered after ${Math.round(this.#answerMs)} ms`);
    else if (this.#firstPacketMs !== undefined)
      details.push(`first packet after ${Math.round(this.#firstPacketMs)} ms`);
    if (durationMs !== undefined) details.push(`${(durationMs / 1000).toFixed(1)} s spoken`);
    this.#details.textContent = details.join(' · ');
    const text = this.#text;
    const parts = [spokenText(text, 0, this.#spokenTo)];
    const add = (tag, from, to, word) => {
      const written = text.slice(from, to);
      const begin = from + written.length - written.trimStart().length;
      const part = make(tag, tag === 'span' ? 'rest' : '');
      part.append(...spokenNodes(text, { from: begin, to, word }));
      if (part.textContent.trim() !== '') parts.push(spokenText(text, from, begin), part);
    };
    const none = { from: this.#spokenTo, to: this.#spokenTo };
    add('mark', this.#spokenTo, this.#speakingTo, this.#word ?? none);
    const cutOff = end === 'interrupted' || end === 'failed';
    add(cutOff ? 'del' : 'span', this.#speakingTo, this.#text.length);
    this.#said.replaceChildren(...parts);
  }
}

/** An entry for what the caller did. */
export function turnOf({ type, speechMs, reason }) {
  const seconds = `${(speechMs / 1000).toFixed(1)} s`;
  const longest = reason === 'longest' ? ', the longest that a turn may last' : '';
  return callerEntry(type === 'no_input' ? 'said nothing' : `spoke for ${seconds}${longest}`);
}

export function callerEntry(what) {
  const element = make('li', 'entry');
  element.dataset.end = element.dataset.who = 'caller';
  const head = make('p', 'entry-head');
  const [tag, details] = [make('span', 'tag'), make('span', '')];
  tag.textContent = 'You';
  details.textContent = what;
  head.append(tag, details);
  element.append(head);
  return element;
}

export function make(tag, className) {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  return element;
}

/**
 * Where `part` ends in `text` when it is looked for from `from` on. Spaces are not counted, and blocks of code
 * may be left out: the server trims and joins sentences. Undefined when it is not there.
 */
export function endOf(part, text, from) {
  const wanted = part.replace(/\s+/g, '');
  if (wanted === '') return from;
  for (let start = from; start < text.length; start++) {
    const end = matchFrom(wanted, text, start);
    if (end !== undefined) return end;
  }
  return undefined;
}

function matchFrom(wanted, text, start) {
  let taken = 0;
  for (let at = start; at < text.length; at++) {
    if (/\s/.test(text[at])) continue;
    if (text[at] !== wanted[taken]) {
      const end = codeEnd(text, at);
      if (taken === 0 || end === undefined) return undefined;
      at = end - 1;
      continue;
    }
    taken++;
    if (taken === wanted.length) return at + 1;
  }
  return undefined;
}

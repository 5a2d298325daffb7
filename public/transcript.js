// Shows the conversation: the texts that were sent to be spoken or that the agent says, how much of them was
// spoken, and what the caller said.
//
// The server numbers the texts of a call that it accepts, from 1. The page
// counts along, and takes a number back when a text is refused.

import { followEnd } from './follow-end.js';
import { forgetSound } from './speech-file.js';
import { callerEntry, Entry, make, turnOf } from './transcript-entry.js';

const MAX_ENTRIES = 200; // older ones leave the page

export class Transcript {
  #list;
  #empty;
  #announce;
  /** Those that wait or are being spoken, by number, in order. */
  #open = new Map();
  #lastNumber = 0;
  /** Number of texts of this page so far: tells their controls apart. */
  #texts = 0;
  /** Milliseconds to an answer whose text has not begun. */
  #answerMs;
  #onReplay;
  /** What the caller says and may still change, by the id of its caption. */
  #changing = new Map();

  /** `onReplay(text, entry)` makes a file of a text. */
  constructor({ list, empty, announce, onReplay }) {
    this.#onReplay = onReplay;
    this.#list = list;
    this.#empty = empty;
    this.#announce = announce;
    followEnd(list);
  }

  /** A text has been sent, to be spoken by this voice. */
  add(text, voice) {
    const entry = this.#entryOf(text, voice);
    this.#lastNumber++;
    this.#open.set(this.#lastNumber, entry);
    this.#append(entry.element);
  }

  /** A text becomes a file. Returns its entry. */
  addFile(text, voice) {
    const entry = this.#entryOf(text, voice);
    entry.asFile();
    this.#append(entry.element);
    return entry;
  }

  /** The caller says, types or presses this; see the captions of a call. */
  callerCaption({ id, text, isFinal, by }) {
    let line = this.#changing.get(id);
    if (line === undefined) {
      if (text === '') return;
      line = make('p', 'said');
      const element = callerEntry(by === 'text' ? 'typed' : by === 'keys' ? 'pressed' : 'said');
      element.append(line);
      this.#append(element);
      this.#changing.set(id, line);
    }
    line.textContent = text;
    line.classList.toggle('rest', !isFinal);
    if (isFinal) this.#changing.delete(id);
    if (isFinal && text === '') line.parentElement.remove();
  }

  /** The voice begins a word of an utterance. */
  wordBegins(word) {
    this.#open.get(word.utterance)?.wordBegins(word);
  }

  #entryOf(text, voice) {
    this.#texts++;
    return new Entry(text, { number: this.#texts, voice, onReplay: this.#onReplay });
  }

  /** The agent speaks: its texts have numbers of the server's. */
  #agentSpeaks(number) {
    const entry = this.#entryOf('', '');
    entry.element.dataset.who = 'agent';
    this.#open.set(number, entry);
    this.#lastNumber = Math.max(this.#lastNumber, number);
    this.#append(entry.element);
    if (this.#answerMs !== undefined) entry.answersAfter(this.#answerMs);
    this.#answerMs = undefined;
  }

  /** The agent's answer began so many milliseconds after the caller's words. */
  agentAnswered(ms) {
    const entry = this.#open.get(this.#lastNumber);
    if (entry === undefined) this.#answerMs = ms;
    else entry.answersAfter(ms);
  }

  #append(element) {
    this.#list.append(element);
    while (this.#list.children.length > MAX_ENTRIES) {
      const oldest = this.#list.firstElementChild;
      for (const sound of oldest.querySelectorAll('.sound')) forgetSound(sound);
      oldest.remove();
    }
    this.#list.hidden = false;
    this.#empty.hidden = true;
  }

  /** True while a text waits or is being spoken. */
  get busy() {
    return this.#open.size > 0;
  }

  apply(event) {
    if (event.type === 'turn.ended' || event.type === 'no_input') return this.#append(turnOf(event));
    if (event.type === 'utterance.started' && event.utterance > this.#lastNumber)
      this.#agentSpeaks(event.utterance);
    const entry = this.#open.get(event.utterance);
    if (entry === undefined) return;
    switch (event.type) {
      case 'utterance.started':
        entry.started(event.firstPacketMs);
        break;
      case 'sentence.started':
        entry.speaking(event.text);
        break;
      case 'sentence.spoken':
        entry.passed(event.text);
        break;
      case 'utterance.paused':
        entry.paused();
        break;
      case 'utterance.resumed':
        entry.resumed();
        break;
      case 'utterance.spoken':
        entry.ended('spoken', undefined, event.durationMs);
        break;
      case 'utterance.interrupted':
      case 'utterance.failed':
        entry.ended(
          event.type.slice('utterance.'.length),
          event.text,
          event.durationMs,
          event.error?.message,
        );
        entry.heardUpTo(event.heard, event.text);
        this.#announce.textContent =
          entry.spoken === '' ? 'Stopped before a word was spoken.' : `Stopped after: ${entry.spoken}`;
        break;
      default:
        return;
    }
    if (entry.over) this.#open.delete(event.utterance);
  }

  /** The server would not speak the text that was sent last. */
  refuse(reason) {
    const entry = this.#open.get(this.#lastNumber);
    if (entry === undefined || entry.begun) return;
    entry.ended('refused', '', undefined, reason);
    this.#open.delete(this.#lastNumber);
    this.#lastNumber--;
  }

  /** The call is over, and with it everything that still waited. */
  stop() {
    for (const entry of this.#open.values()) entry.ended('interrupted', entry.heard);
    this.#open.clear();
    this.#changing.clear();
    this.#lastNumber = 0;
  }
}

// Shows the texts that were sent to be spoken, how much of them was spoken, and when the caller spoke.
//
// The server numbers the texts of a call that it accepts, from 1. The page
// counts along, and takes a number back when a text is refused.

const TAGS = {
  waiting: 'Waiting',
  speaking: 'Speaking',
  spoken: 'Spoken',
  interrupted: 'Interrupted',
  failed: 'Failed',
  refused: 'Refused',
};

const MAX_ENTRIES = 200; // older ones leave the page

export class Transcript {
  #list;
  #empty;
  #announce;
  /** Those that wait or are being spoken, by number, in order. */
  #open = new Map();
  #lastNumber = 0;

  constructor({ list, empty, announce }) {
    this.#list = list;
    this.#empty = empty;
    this.#announce = announce;
  }

  /** A text has been sent. */
  add(text) {
    const entry = new Entry(text);
    this.#lastNumber++;
    this.#open.set(this.#lastNumber, entry);
    this.#prepend(entry.element);
  }

  /** The caller has said, typed or pressed this to the agent. */
  said(text) {
    const line = make('p', 'said');
    line.textContent = text;
    const element = callerEntry('to the agent');
    element.append(line);
    this.#prepend(element);
  }

  /** The agent speaks: its texts have numbers of the server's. */
  #agentSpeaks(number) {
    const entry = new Entry('');
    this.#open.set(number, entry);
    this.#lastNumber = Math.max(this.#lastNumber, number);
    this.#prepend(entry.element);
  }

  #prepend(element) {
    this.#list.prepend(element);
    while (this.#list.children.length > MAX_ENTRIES) this.#list.lastElementChild.remove();
    this.#list.hidden = false;
    this.#empty.hidden = true;
    this.#list.scrollTop = 0;
  }

  /** True while a text waits or is being spoken. */
  get busy() {
    return this.#open.size > 0;
  }

  apply(event) {
    if (event.type === 'turn.ended' || event.type === 'no_input') return this.#prepend(turnOf(event));
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
          event.text === '' ? 'Stopped before a word was spoken.' : `Stopped after: ${event.text}`;
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
    this.#lastNumber = 0;
  }
}

class Entry {
  element = document.createElement('li');
  over = false;
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
  #note = make('p', 'pauses');
  #isPaused = false;
  #resumptions = 0;

  constructor(text) {
    this.#text = text;
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

  started(firstPacketMs) {
    this.#firstPacketMs = firstPacketMs;
    this.#show('speaking');
  }

  speaking(sentence) {
    if (this.#grows) this.#text += this.#text === '' ? sentence : ` ${sentence}`;
    this.#speakingTo = endOf(sentence, this.#text, this.#spokenTo) ?? this.#speakingTo;
    this.#show('speaking');
  }

  passed(sentence) {
    this.#spokenTo = endOf(sentence, this.#text, this.#spokenTo) ?? this.#speakingTo;
    this.#speakingTo = this.#spokenTo;
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
    else if (heard !== undefined && heard !== text && text.startsWith(heard))
      notes.push(`“${text.slice(heard.length).trim()}” had not reached you yet.`);
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
  }

  #show(end, durationMs) {
    this.element.dataset.end = end;
    this.#tag.textContent = TAGS[end];
    const details = [];
    if (this.#firstPacketMs !== undefined)
      details.push(`first packet after ${Math.round(this.#firstPacketMs)} ms`);
    if (durationMs !== undefined) details.push(`${(durationMs / 1000).toFixed(1)} s spoken`);
    this.#details.textContent = details.join(' · ');
    const parts = [this.#text.slice(0, this.#spokenTo)];
    const add = (tag, from, to) => {
      const text = this.#text.slice(from, to);
      if (text.trim() === '') return;
      const part = make(tag, tag === 'span' ? 'rest' : '');
      part.textContent = text.trimStart();
      parts.push(text.slice(0, text.length - part.textContent.length), part);
    };
    add('mark', this.#spokenTo, this.#speakingTo);
    const cutOff = end === 'interrupted' || end === 'failed';
    add(cutOff ? 'del' : 'span', this.#speakingTo, this.#text.length);
    this.#said.replaceChildren(...parts);
  }
}

/** An entry for what the caller did. */
function turnOf({ type, speechMs, reason }) {
  const seconds = `${(speechMs / 1000).toFixed(1)} s`;
  const longest = reason === 'longest' ? ', the longest that a turn may last' : '';
  return callerEntry(type === 'no_input' ? 'said nothing' : `spoke for ${seconds}${longest}`);
}

function callerEntry(what) {
  const element = make('li', 'entry');
  element.dataset.end = 'caller';
  const head = make('p', 'entry-head');
  const [tag, details] = [make('span', 'tag'), make('span', '')];
  tag.textContent = 'You';
  details.textContent = what;
  head.append(tag, details);
  element.append(head);
  return element;
}

function make(tag, className) {
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  return element;
}

/**
 * Where `part` ends in `text` when it is looked for from `from` on, spaces not counted: the server trims and
 * joins sentences. Undefined when it is not there.
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
    if (text[at] !== wanted[taken]) return undefined;
    taken++;
    if (taken === wanted.length) return at + 1;
  }
  return undefined;
}

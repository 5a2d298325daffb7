// Captions of both sides of a call, and what of the voice is heard, from the messages of the server.
import { WordClock } from './parley-words.js';

/**
 * @typedef {object} Caption
 * @property {string} id A later caption with the same id replaces this one.
 * @property {'caller' | 'agent'} who The agent is the voice of the server, whatever conducts the call.
 * @property {string} text Empty: a caption that is taken back, or a sentence of which nothing was heard.
 * @property {boolean} isFinal False if the text may still change, or is being spoken.
 * @property {'speech' | 'text' | 'keys'} [by] How the caller said it.
 * @property {string} [language] BCP 47 tag.
 * @property {boolean} [isInterrupted] The voice was stopped: `text` is the part that was heard.
 * @property {number} [utterance] Number of the text that is spoken, from 1.
 * @property {number} [sentence] Number of the sentence in it, from 0.
 */

/**
 * @typedef {object} SentenceProgress
 * @property {number} utterance
 * @property {number} sentence
 * @property {string} text
 * @property {boolean} isOver False: its first packet has left. True: its last packet has left.
 */

/**
 * @typedef {object} WordProgress The voice begins this word. The time is an estimate, unless the server has
 *   told the times of the sentence.
 * @property {number} utterance
 * @property {number} sentence
 * @property {string} word
 * @property {number} start Its place in the text of the sentence, in UTF-16 units.
 * @property {number} end
 */

/**
 * @typedef {object} SentenceWords
 * @property {number} utterance
 * @property {number} sentence
 * @property {readonly SentenceWord[]} words In their order.
 */

/**
 * @typedef {object} SentenceWord
 * @property {string} word
 * @property {number} start Its place in the text of the sentence, in UTF-16 units.
 * @property {number} end
 * @property {number} startMs Milliseconds from the first packet of the sentence.
 * @property {number} [endMs] End of its sound; absent if the engine does not tell it.
 */

/**
 * @typedef {object} InterruptedSpeech
 * @property {number} utterance
 * @property {string} text The text that was sent.
 * @property {string} heard The part of it that had reached the caller.
 * @property {boolean} isBySpeech The caller has spoken; otherwise a message or a key has interrupted.
 */

/**
 * @typedef {object} CaptionListener
 * @property {(caption: Caption) => void} caption
 * @property {(sentence: SentenceProgress) => void} sentence
 * @property {(word: WordProgress) => void} word
 * @property {(words: SentenceWords) => void} words
 * @property {(interrupted: InterruptedSpeech) => void} interrupted
 */

/** @typedef {{ utterance: number, sentence: number, text: string }} Sentence */

export class CallCaptions {
  /** @type {CaptionListener} */
  #on;
  /** @type {() => number} */
  #delayMs;
  #words = new WordClock((word) => this.#wordBegins(word));
  /** The sentence that is being heard. @type {Sentence | undefined} */
  #now;
  /** Characters, without spaces, of the sentences before it in its utterance. */
  #before = 0;
  #prompts = 0;
  #isPaused = false;
  /** The server tells the caller's speech while it is spoken. */
  #hasEars = false;

  /**
   * `delayMs` tells how long a packet takes from the server to the ear.
   * @param {CaptionListener} on
   * @param {() => number} delayMs
   */
  constructor(on, delayMs) {
    this.#on = on;
    this.#delayMs = delayMs;
  }

  /**
   * Messages that tell nothing of what is said are ignored.
   * @param {import('./parley-call.js').CallMessage} message
   */
  apply(message) {
    const isCurrent = message.utterance === this.#now?.utterance;
    switch (message.type) {
      case 'agent.prompt':
        return this.#said(message.text, message.by);
      case 'captions':
        this.#hasEars = message.caller;
        return undefined;
      case 'caller.text':
        return this.#heard(message);
      case 'sentence.started':
        return this.#sentenceBegins(message);
      case 'sentence.words':
        return this.#timed(message);
      case 'sentence.spoken':
        return this.#sentenceOver(message);
      case 'utterance.paused':
        if (!isCurrent) return undefined;
        this.#isPaused = true;
        return this.#words.pause();
      case 'utterance.resumed':
        if (!isCurrent) return undefined;
        this.#isPaused = false;
        return this.#words.resume();
      case 'utterance.interrupted':
        return this.#interrupted(message);
      case 'utterance.failed':
        return isCurrent ? this.#cut(message.text) : undefined;
      default:
        return undefined;
    }
  }

  /** The call is over. */
  close() {
    this.#words.stop();
    this.#now = undefined;
  }

  /** The caller says something. @param {any} message */
  #heard({ number, text, isFinal, language }) {
    const spoken = language === undefined ? {} : { language };
    this.#on.caption({ id: `caller-turn-${number}`, who: 'caller', text, isFinal, by: 'speech', ...spoken });
  }

  /** @param {string} text @param {'speech' | 'text' | 'keys'} by */
  #said(text, by) {
    if (by === 'speech' && this.#hasEars) return;
    this.#on.caption({ id: `caller-${++this.#prompts}`, who: 'caller', text, isFinal: true, by });
  }

  /** An event may come twice after a change of the connection. @param {any} message */
  #sentenceBegins({ utterance, sentence, text }) {
    const last = this.#now;
    if (last?.utterance === utterance && last?.sentence === sentence) return;
    if (last?.utterance !== utterance) this.#before = 0;
    this.#now = { utterance, sentence, text };
    this.#isPaused = false;
    this.#on.sentence({ utterance, sentence, text, isOver: false });
    this.#caption(this.#now, text, false);
    this.#words.begin(text, this.#delayMs());
  }

  /** The engine knows the times of the words of the sentence that has begun. @param {any} message */
  #timed({ utterance, sentence, words }) {
    const now = this.#now;
    if (now === undefined || now.utterance !== utterance || now.sentence !== sentence) return;
    this.#words.time(words);
    const named = words.map((/** @type {Omit<SentenceWord, 'word'>} */ word) => ({
      word: now.text.slice(word.start, word.end),
      ...word,
    }));
    this.#on.words({ utterance, sentence, words: named });
  }

  /** @param {any} message */
  #sentenceOver({ utterance, sentence, text }) {
    const now = this.#now;
    if (now === undefined || now.utterance !== utterance || now.sentence !== sentence) return;
    this.#words.finish();
    this.#on.sentence({ utterance, sentence, text, isOver: true });
    this.#caption(now, text, true);
    this.#before += lengthOf(text);
    this.#now = { ...now, text: '' };
  }

  /** @param {any} message */
  #interrupted({ utterance, text, heard = text }) {
    const isBySpeech = this.#isPaused;
    if (utterance === this.#now?.utterance) this.#cut(heard);
    this.#on.interrupted({ utterance, text, heard, isBySpeech });
  }

  /** Nothing more is heard of the utterance than this. @param {string} heard */
  #cut(heard) {
    const now = this.#now;
    this.#words.stop();
    this.#now = undefined;
    this.#isPaused = false;
    if (now === undefined || now.text === '') return;
    const text = beginningOf(now.text, lengthOf(heard) - this.#before);
    this.#caption(now, text, true, true);
  }

  /** @param {Sentence} sentence @param {string} text @param {boolean} isFinal */
  #caption({ utterance, sentence }, text, isFinal, isInterrupted = false) {
    const id = `agent-${utterance}-${sentence}`;
    const cut = isInterrupted ? { isInterrupted } : {};
    this.#on.caption({ id, who: 'agent', text, isFinal, ...cut, utterance, sentence });
  }

  /** @param {import('./parley-words.js').Word} word */
  #wordBegins({ start, end }) {
    if (this.#now === undefined) return;
    const { utterance, sentence, text } = this.#now;
    this.#on.word({ utterance, sentence, word: text.slice(start, end), start, end });
  }
}

/** Characters without spaces: the server joins sentences with one space. @param {string} text */
function lengthOf(text) {
  return text.replace(/\s+/gu, '').length;
}

/** The text up to this many characters, spaces not counted. @param {string} text @param {number} length */
function beginningOf(text, length) {
  let end = 0;
  for (let left = length; end < text.length && left > 0; end++) if (!/\s/u.test(text[end] ?? '')) left--;
  return text.slice(0, end);
}

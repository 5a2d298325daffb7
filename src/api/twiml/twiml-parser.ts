// A TwiML document as a program. Elements, attributes and values that are not understood are warnings with
// their place; the rest runs. https://www.twilio.com/docs/voice/twiml
import type { Program, Warning } from '../../ivr/door.js';
import type { Gather, Play, Press, Prompt, Say, Target, Verb } from '../../ivr/verbs.js';
import { isFormal } from '../../text/markup/elements.js';
import { type ElementParser, parseDial } from './dial-parser.js';
import { shownUrl } from './document-url.js';
import { readConnect } from './connect-verb.js';
import { type ElementContext, readConference, readDequeue, readEnqueue } from './joining-elements.js';
import { readRecord } from './record-verb.js';
import { readRefer } from './refer-verb.js';
import { readStart, readStop } from './start-verb.js';
import { saidText } from './say-markup.js';
import { TwimlAttributes } from './twiml-attributes.js';
import { elementsOf, placeIn, readTwimlDocument, textOf, type TwimlElement } from './twiml-document.js';
import {
  NOUN_ATTRIBUTES,
  PROMPTS,
  REFUSED,
  VERB_ATTRIBUTES,
  verbInOtherCase,
  WITHOUT_EFFECT,
} from './twiml-elements.js';
import { INVALID_FINISH_KEY, INVALID_PAUSE, INVALID_URL, SCHEMA_WARNING } from './twiml-errors.js';

const MOST_TIMES = 1000;
const MOST_WARNINGS = 100; // of one document
const MOST_SECONDS = 14_400;
const MOST_DIGITS = 1000;
const MOST_PROMPTS = 50; // of one <Gather>, as in a file
const MOST_HINTS = 500;
const MOST_HINT = 100; // characters
const MOST_SPEECH_SECONDS = 60;
const MOST_PRESSED = 64; // keys and waits of half a second: see DigitsRequest
const USUAL_LANGUAGE = 'en-US';
/** Voices of Twilio. The server's usual voice speaks in their place. */
const FOREIGN_VOICE = /^(?:man|woman|alice|(?:Polly|Google|Azure|ElevenLabs)\..*)$/i;

/**
 * The program of a document. Throws a ProgramError: 12100 if it is not well-formed, 12102 for another root.
 * @param url of the document; undefined: it has none, and its relative URLs stay as they are
 */
export function parseTwiml(source: string, url: string | undefined): Program {
  const parser = new TwimlParser(source, url);
  const verbs = parser.verbs(readTwimlDocument(source, parser.shown));
  return { verbs, warnings: parser.warnings };
}

class TwimlParser {
  readonly warnings: Warning[] = [];
  /** The URL in warnings. */
  readonly shown: string | undefined;
  readonly #elements: ElementParser = {
    warn: (element, message, code) => this.#warn(element, message, code),
    target: (written, read, method) => this.#target(written, read, method),
    checkAttributes: (element, known) => this.#checkAttributes(element, known),
    skip: (element) => this.#skip(element),
  };
  readonly #source: string;
  readonly #url: string | undefined;

  constructor(source: string, url: string | undefined) {
    this.#source = source;
    this.#url = url;
    this.shown = url === undefined ? undefined : shownUrl(url);
  }

  verbs(root: TwimlElement): readonly Verb[] {
    this.#checkAttributes(root, []);
    this.#refuseText(root);
    return elementsOf(root).flatMap((element) => this.#verb(element) ?? []);
  }

  #verb(element: TwimlElement): Verb | undefined {
    const { name } = element;
    const known = Object.hasOwn(VERB_ATTRIBUTES, name) ? VERB_ATTRIBUTES[name] : undefined;
    if (known === undefined) return this.#skip(element);
    const joined = name === 'Dial' ? elementsOf(element).find(isJoined) : undefined;
    this.#checkAttributes(element, known);
    const read = new TwimlAttributes(element, this.#warn);
    if (name === 'Say') return this.#say(element, read);
    if (name === 'Gather') return this.#gather(element, read);
    if (joined !== undefined) return this.#joined(element, joined, read);
    if (name === 'Dial') return parseDial(element, read, this.#elements);
    if (name === 'Connect') return readConnect(element, read, this.#elements);
    if (name === 'Start') return readStart(element, this.#elements);
    if (name === 'Stop') return readStop(element, this.#elements);
    if (name === 'Refer') return readRefer(element, read, this.#elements);
    this.#refuseChildren(element, WITHOUT_EFFECT[name] ?? []);
    if (name === 'Play') return this.#play(element, read);
    if (name === 'Redirect') return { verb: 'redirect', to: this.#target(textOf(element), read, 'method') };
    if (name === 'Enqueue') return readEnqueue(element, read, this.#context);
    this.#refuseText(element);
    if (name === 'Record') return readRecord(read, (...target) => this.#target(...target));
    if (name === 'Leave') return { verb: 'leave' };
    if (name === 'Pause') return this.#pause(read);
    if (name === 'Reject')
      return { verb: 'reject', reason: read.choice('reason', ['rejected', 'busy'], 'rejected') };
    return { verb: 'hangup' };
  }

  /** <Dial> with a conference or a queue, which is its only noun. */
  #joined(dial: TwimlElement, noun: TwimlElement, read: TwimlAttributes): Verb | undefined {
    this.#refuseText(dial);
    for (const other of elementsOf(dial))
      if (other !== noun)
        this.#warn(other, `<Dial> has <${noun.name}> as its only noun; this one is skipped`);
    this.#checkAttributes(noun, NOUN_ATTRIBUTES[noun.name] ?? []);
    this.#refuseChildren(noun, []);
    return noun.name === 'Conference'
      ? readConference(read, noun, this.#context)
      : readDequeue(read, noun, this.#context);
  }

  #say(element: TwimlElement, read: TwimlAttributes): Say | undefined {
    const { text, format } = saidText(element, this.#warn);
    const named = read.raw('voice')?.trim() ?? '';
    const voice = named === '' || FOREIGN_VOICE.test(named) ? undefined : named;
    const ofVoice = /^Google\.([a-z]{2,3}-[A-Z]{2})-/.exec(named)?.[1];
    const language = read.language('language', ofVoice);
    const times = this.#times(read);
    if (text !== '') return { verb: 'say', text, format, voice, language, times };
    this.#warn(element, '<Say> has no words; it is skipped');
    return undefined;
  }

  #play(element: TwimlElement, read: TwimlAttributes): Play | Press | undefined {
    const digits = read.raw('digits')?.trim() ?? '';
    const sound = textOf(element);
    const times = this.#times(read);
    if (digits !== '') return this.#press(element, digits, sound);
    if (sound !== '') return { verb: 'play', sound: this.#resolve(sound), times };
    this.#warn(element, '<Play> must have the URL of a sound, or "digits"; it is skipped', INVALID_URL);
    return undefined;
  }

  #press(element: TwimlElement, written: string, sound: string): Press | undefined {
    if (sound !== '') this.#warn(element, '<Play> with "digits" plays no sound; its URL is ignored');
    const digits = written.replaceAll('w', ',').replaceAll('W', ',,');
    if (!/^[\dA-D*#,]+$/.test(digits)) {
      this.#warn(element, '"digits" of <Play> must be of 0-9, A-D, #, *, w and W; <Play> is skipped');
      return undefined;
    }
    if (digits.length <= MOST_PRESSED) return { verb: 'press', digits };
    const most = `at most ${MOST_PRESSED} keys and half seconds`;
    this.#warn(element, `"digits" of <Play> must have ${most}; <Play> is skipped`);
    return undefined;
  }

  #pause(read: TwimlAttributes): Prompt {
    return { verb: 'pause', ms: read.whole('length', 1, [0, MOST_SECONDS], INVALID_PAUSE) * 1000 };
  }

  #gather(element: TwimlElement, read: TwimlAttributes): Gather {
    this.#refuseText(element);
    const timeoutMs = read.whole('timeout', 5, [0, MOST_SECONDS]) * 1000;
    const partial = read.raw('partialResultCallback')?.trim() ?? '';
    return {
      verb: 'gather',
      inputs: this.#inputs(read),
      prompts: this.#prompts(element),
      ...(elementsOf(element).some((child) => statesSensitive(child) && child.attributes['value'] === 'true')
        ? { isSensitive: true }
        : {}),
      isInterruptible: read.flag('bargeIn', true),
      firstMs: timeoutMs,
      betweenMs: timeoutMs,
      finishKeys: this.#finishKey(read),
      mostKeys: read.whole('numDigits', undefined, [1, MOST_DIGITS]),
      speechEndMs: this.#speechEnd(read, timeoutMs),
      mostSpeechMs: read.whole('maxSpeechTime', MOST_SPEECH_SECONDS, [1, MOST_SPEECH_SECONDS]) * 1000,
      language: read.language('language', USUAL_LANGUAGE),
      hints: this.#hints(element, read),
      action: this.#target(read.raw('action')?.trim() ?? '', read, 'method'),
      tellsEmpty: read.flag('actionOnEmptyResult', false),
      partial: partial === '' ? undefined : this.#target(partial, read, 'partialResultCallbackMethod'),
    };
  }

  /** All sounds of a gather are fetched and held at once. */
  #prompts(element: TwimlElement): readonly Prompt[] {
    const prompts = elementsOf(element).filter((child) => !statesSensitive(child));
    const [over] = prompts.slice(MOST_PROMPTS);
    if (over !== undefined)
      this.#warn(over, `<Gather> holds ${MOST_PROMPTS} prompts at most; those behind them are skipped`);
    return prompts.slice(0, MOST_PROMPTS).flatMap((child) => this.#prompt(child) ?? []);
  }

  #inputs(read: TwimlAttributes): Gather['inputs'] {
    const raw = read.raw('input');
    if (raw === undefined) return ['keys'];
    const words = new Set(raw.split(/[\s,]+/).filter((word) => word !== ''));
    const strays = [...words].filter((word) => word !== 'dtmf' && word !== 'speech');
    if (words.size === 0 || strays.length > 0) {
      read.refuse('input', 'dtmf, speech or dtmf speech', 'dtmf');
      return ['keys'];
    }
    return [...words].map((word) => (word === 'dtmf' ? 'keys' : 'speech'));
  }

  #prompt(element: TwimlElement): Prompt | undefined {
    const { name } = element;
    if (!PROMPTS.includes(name)) {
      if (!Object.hasOwn(VERB_ATTRIBUTES, name)) return this.#skip(element);
      return this.#warn(element, `<Gather> may hold ${PROMPTS.join(', ')}, not <${name}>; it is skipped`);
    }
    const verb = this.#verb(element);
    if (verb?.verb === 'press')
      return this.#warn(element, '<Play> within <Gather> must not have "digits"; it is skipped');
    return verb as Prompt | undefined;
  }

  #finishKey(read: TwimlAttributes): string {
    const raw = read.raw('finishOnKey');
    if (raw === undefined) return '#';
    const key = raw.trim();
    if (/^[\d*#]?$/.test(key)) return key;
    read.refuse('finishOnKey', 'one of 0-9, * and #, or empty', '#', INVALID_FINISH_KEY);
    return '#';
  }

  #speechEnd(read: TwimlAttributes, fallbackMs: number): number | undefined {
    const raw = read.raw('speechTimeout')?.trim();
    if (raw === 'auto') return undefined;
    if (raw === undefined || /^[1-9]\d{0,3}$/.test(raw)) {
      return raw === undefined ? fallbackMs : Number(raw) * 1000;
    }
    read.refuse('speechTimeout', 'auto, or seconds from 1 to 9999', String(fallbackMs / 1000));
    return fallbackMs;
  }

  #hints(element: TwimlElement, read: TwimlAttributes): readonly string[] {
    const hints = (read.raw('hints') ?? '')
      .split(',')
      .map((hint) => hint.trim())
      .filter((hint) => hint !== '');
    const kept = hints.filter((hint) => hint.length <= MOST_HINT).slice(0, MOST_HINTS);
    const limit = `${MOST_HINTS} hints of ${MOST_HINT} characters`;
    if (kept.length < hints.length) this.#warn(element, `"hints" of <Gather> may have ${limit} at most`);
    return kept;
  }

  #times(read: TwimlAttributes): number {
    const times = read.whole('loop', 1, [0, MOST_TIMES]);
    return times === 0 ? MOST_TIMES : times;
  }

  #target(written: string, read: TwimlAttributes, method: string): Target {
    return { at: this.#resolve(written), method: read.method(method) };
  }

  /** An empty URL is that of this document. One that cannot be parsed stays as it is: the door refuses it. */
  #resolve(written: string): string {
    if (written === '') return this.#url ?? '';
    return URL.canParse(written, this.#url) ? new URL(written, this.#url).href : written;
  }

  get #context(): ElementContext {
    return {
      warn: this.#warn,
      target: (written, read, method) => this.#target(written, read, method),
    };
  }

  #skip(element: TwimlElement): undefined {
    const { name } = element;
    const shown = `<${name.slice(0, 40)}>`;
    const reason = REFUSED.get(name);
    if (reason !== undefined) return this.#warn(element, `${shown} is refused: ${reason}; it is skipped`);
    const meant = verbInOtherCase(name);
    if (meant !== undefined && meant !== name)
      return this.#warn(element, `${shown} is no verb, <${meant}> is: case matters; it is skipped`);
    return this.#warn(element, `${shown} is no verb of TwiML; it is skipped`);
  }

  #checkAttributes(element: TwimlElement, known: readonly string[]): void {
    const strays = Object.keys(element.attributes).filter(
      (name) => !known.includes(name) && name !== 'xmlns' && !isFormal(name),
    );
    const has = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
    for (const name of strays)
      this.#warn(element, `<${element.name}> has no attribute "${name.slice(0, 40)}"; ${has}`);
  }

  #refuseChildren(element: TwimlElement, allowed: readonly string[]): void {
    for (const child of elementsOf(element)) {
      if (allowed.includes(child.name)) continue;
      this.#warn(child, `<${element.name}> holds no <${child.name.slice(0, 40)}>; it is skipped`);
    }
  }

  #refuseText(element: TwimlElement): void {
    const text = textOf(element);
    if (text === '') return;
    const shown = JSON.stringify(text.slice(0, 40));
    this.#warn(element, `<${element.name}> holds no text; ${shown} is skipped`);
  }

  readonly #warn = (element: TwimlElement, message: string, code = SCHEMA_WARNING): undefined => {
    if (this.warnings.length > MOST_WARNINGS) return;
    const isLast = this.warnings.length === MOST_WARNINGS;
    const text = isLast ? 'there are more warnings about this document' : message;
    const { line, column } = placeIn(this.#source, element.at);
    this.warnings.push({ code, message: text, document: this.shown, line, column });
  };
}

function isJoined({ name }: TwimlElement): boolean {
  return Object.hasOwn(NOUN_ATTRIBUTES, name);
}

/** `<Parameter name="sensitive" value="true"/>`, which Twilio does not know: see Gather. */
function statesSensitive({ name, attributes }: TwimlElement): boolean {
  return name === 'Parameter' && attributes['name'] === 'sensitive';
}

// The elements of SSML 1.1 that are taken, what each may hold, and its attributes.
//
//   element            what is done
//   speak, p, s        ends of sentences; a paragraph ends with a longer pause
//   break              silence of that length
//   say-as             read as what it says; content that is nothing of the kind, as if it were not there
//   sub                its alias is said
//   prosody            rate and volume; pitch, contour, range and duration have no effect
//   voice              by its name; age, gender and the like have no effect
//   lang, xml:lang     language, and a voice that speaks it
//   mark               told when what stands before it was heard
//   emphasis, phoneme  no engine can: the text is spoken as it stands
//   audio              never fetched: what it holds is spoken in its place, and there must be some
//   token, w           as it stands
//   meta, metadata, desc   not spoken
//   lexicon, lookup    refused: nothing is fetched; a request has a field for it
import {
  ALPHABET,
  ANY,
  type AttributeRule,
  BREAK_TIME,
  CONTOUR,
  DURATION,
  EMPHASIS,
  LANGUAGE,
  LANGUAGE_FAILURE,
  NAME,
  PITCH,
  RATE,
  SSML_NAMESPACE,
  STRENGTH,
  UNHEEDED,
  VERSION,
  VOLUME,
  WORDS,
} from './attributes.js';
import { SAY_AS } from './say-as-kinds.js';

export interface ElementRule {
  /** `unspoken`: whatever it likes, and none of it is heard. */
  readonly holds: 'speech' | 'text' | 'nothing' | 'unspoken';
  readonly attributes: Readonly<Record<string, AttributeRule>>;
  readonly required?: readonly string[];
  /** Nothing here can do what it asks for. */
  readonly isUnheeded?: true;
  /** Elements in which it must not stand, however deep. */
  readonly outside?: readonly string[];
  /** The element that it must stand in. */
  readonly within?: string;
}

const SPOKEN_IN = { 'xml:lang': LANGUAGE, onlangfailure: LANGUAGE_FAILURE };

export const ELEMENTS: Readonly<Record<string, ElementRule>> = {
  speak: {
    holds: 'speech',
    attributes: { ...SPOKEN_IN, version: VERSION, xmlns: SSML_NAMESPACE, 'xml:base': ANY },
  },
  p: { holds: 'speech', attributes: SPOKEN_IN, outside: ['p', 's'] },
  s: { holds: 'speech', attributes: SPOKEN_IN, outside: ['s'] },
  break: { holds: 'nothing', attributes: { strength: STRENGTH, time: BREAK_TIME } },
  'say-as': {
    holds: 'text',
    // A language of its own is no part of SSML; some servers take one. The text is read in that of its sentence.
    attributes: {
      'interpret-as': SAY_AS,
      format: ANY,
      detail: ANY,
      language: UNHEEDED,
      'xml:lang': UNHEEDED,
    },
    required: ['interpret-as'],
  },
  sub: { holds: 'text', attributes: { alias: WORDS }, required: ['alias'] },
  phoneme: {
    holds: 'text',
    attributes: { ph: WORDS, alphabet: ALPHABET, type: ANY },
    required: ['ph'],
    isUnheeded: true,
  },
  prosody: {
    holds: 'speech',
    attributes: {
      rate: RATE,
      volume: VOLUME,
      pitch: PITCH,
      range: PITCH,
      contour: CONTOUR,
      duration: DURATION,
    },
  },
  emphasis: { holds: 'speech', attributes: { level: EMPHASIS }, isUnheeded: true },
  voice: {
    holds: 'speech',
    attributes: {
      ...SPOKEN_IN,
      name: NAME,
      gender: UNHEEDED,
      age: UNHEEDED,
      variant: UNHEEDED,
      languages: UNHEEDED,
      required: UNHEEDED,
      ordering: UNHEEDED,
      onvoicefailure: UNHEEDED,
    },
  },
  lang: { holds: 'speech', attributes: SPOKEN_IN, required: ['xml:lang'] },
  mark: { holds: 'nothing', attributes: { name: NAME }, required: ['name'] },
  audio: {
    holds: 'speech',
    attributes: {
      src: ANY,
      fetchtimeout: ANY,
      fetchhint: ANY,
      maxage: ANY,
      maxstale: ANY,
      clipBegin: ANY,
      clipEnd: ANY,
      repeatCount: ANY,
      repeatDur: ANY,
      soundLevel: ANY,
      speed: ANY,
    },
    isUnheeded: true,
  },
  desc: { holds: 'unspoken', attributes: SPOKEN_IN, within: 'audio' },
  token: { holds: 'speech', attributes: { ...SPOKEN_IN, role: UNHEEDED } },
  w: { holds: 'speech', attributes: { ...SPOKEN_IN, role: UNHEEDED } },
  meta: { holds: 'nothing', attributes: { name: ANY, 'http-equiv': ANY, content: ANY } },
  metadata: { holds: 'unspoken', attributes: {} },
};

const FETCHING = ['lexicon', 'lookup'];

/** Attributes of namespaces and schemas, which say nothing of the sound. */
const FORMAL = /^(?:xmlns:[\w.-]+|xsi:[\w.-]+|xml:(?:id|space))$/;

export function isFormal(attribute: string): boolean {
  return FORMAL.test(attribute);
}

/** Error message for an unsupported element. */
export function unknownElement(name: string): string {
  const shown = `<${name.slice(0, 40)}>`;
  if (FETCHING.includes(name)) {
    return `${shown} is not taken: nothing is fetched for a text; the field "lexicon" of a request says how words are said`;
  }
  return `there is no ${shown} here; there are ${Object.keys(ELEMENTS).join(', ')}`;
}

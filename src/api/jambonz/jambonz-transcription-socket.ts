// The dialect of jambonz for speech recognisers of its users (custom STT): a socket for each call.
//
//   in   {"type": "start", "language", "format": "raw", "encoding": "LINEAR16", "sampleRateHz", …}
//        binary sound   {"type": "stop"}
//   out  {"type": "transcription", "is_final", "alternatives", "channel", "language"}   {"type": "error", …}
//
// https://docs.jambonz.org/guides/using-speech/custom-speech (custom speech API)
import type { RecognisedText } from '../../engines/recogniser.js';
import { ParleyError } from '../../errors.js';
import { LIVE_RATES } from '../../transcribing/live-sound.js';
import type { LiveRequest } from '../../transcribing/live-transcriber.js';
import {
  choiceIn,
  type Fields,
  flagIn,
  invalid,
  readLanguage,
  stringIn,
  wholeIn,
} from '../http/message-fields.js';
import type { Dialect } from '../http/socket-dialect.js';
import { LiveConversation, liveDialect, type SocketError } from '../live/live-conversation.js';
import { contextIn, type LiveSocketParts } from '../live/live-socket-parts.js';

const ENCODINGS = { LINEAR16: 'pcm_s16le', MULAW: 'mulaw', ALAW: 'alaw' } as const;
const TELEPHONE_RATE = 8000;
/** The model gives none; jambonz drops texts below its own threshold. */
const CONFIDENCE = 1;

export function jambonzSocket(parts: LiveSocketParts): Dialect {
  return liveDialect({ name: 'jambonz', path: '/v1/jambonz/stt' }, parts, JambonzConversation);
}

class JambonzConversation extends LiveConversation {
  #language: string | undefined;

  protected override obey(fields: Fields): void {
    const type = stringIn(fields, 'type');
    if (type === 'start') return this.#start(fields);
    if (type !== 'stop') throw invalid('type', 'must be "start" or "stop"');
    void this.end();
    return undefined;
  }

  /** Fields that jambonz adds later are ignored. */
  #start(fields: Fields): void {
    if (this.client.isOpen) throw new ParleyError('MALFORMED', '"start" may come only once');
    const encoding = ENCODINGS[choiceIn(fields, 'encoding', ['LINEAR16', 'MULAW', 'ALAW']) ?? 'LINEAR16'];
    choiceIn(fields, 'format', ['raw']);
    const rate = wholeIn(fields, 'sampleRateHz', ...LIVE_RATES) ?? TELEPHONE_RATE;
    this.#language = readLanguage(fields);
    const { options = {} } = fields;
    if (typeof options !== 'object' || options === null) throw invalid('options', 'must be an object');
    const { hints, prompt } = options as { readonly hints?: unknown; readonly prompt?: unknown };
    const request: LiveRequest = {
      name: this.requestId,
      language: this.#language,
      context: contextIn({ prompt, keywords: Array.isArray(hints) ? hints.filter(isText) : undefined }),
      partials: flagIn(fields, 'interimResults') ?? false,
      endsTurns: 'silence',
      listener: {
        partial: (text) => this.#tell(text, false),
        final: (text) => this.#tell(text, true),
        failed: (error) => this.fail(error),
      },
    };
    this.client.begin({ encoding, rate }, request);
  }

  #tell({ text: transcript, language = this.#language ?? 'en' }: RecognisedText, is_final: boolean): void {
    if (transcript === '') return;
    const alternatives = [{ transcript, confidence: CONFIDENCE }];
    this.send({ type: 'transcription', is_final, alternatives, channel: 1, language });
  }

  protected override errorMessage({ message }: SocketError): object {
    return { type: 'error', error: message };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

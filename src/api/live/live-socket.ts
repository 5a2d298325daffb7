// The dialect of /v1/audio/transcriptions/stream: sound in, texts of its turns out.
//
//   in   {"type": "config", "sample_rate": 16000, …}   binary sound   {"type": "flush"}   {"type": "end"}
//   out  {"type": "ready"}   speech_started   partial …   speech_stopped   final   done   error
//
// The configuration comes first. `flush` ends the turn at the sound so far; `end` ends the sound: after the
// last text comes `done`, and the server closes the socket. Times are in seconds of the sound.
import type { RecognisedText } from '../../engines/recogniser.js';
import { ParleyError } from '../../errors.js';
import type { LiveRequest } from '../../transcribing/live-transcriber.js';
import { LIVE_RATE, LIVE_RATES, SOUND_ENCODINGS } from '../../transcribing/live-sound.js';
import {
  choiceIn,
  type Fields,
  flagIn,
  invalid,
  readLanguage,
  readModel,
  refuseUnknown,
  stringIn,
  wholeIn,
} from '../http/message-fields.js';
import type { Dialect } from '../http/socket-dialect.js';
import { LiveConversation, liveDialect, type SocketError } from './live-conversation.js';
import { contextIn, type LiveSocketParts, liveTranscriberOf, turnsIn } from './live-socket-parts.js';

const CONFIG_FIELDS = [
  'type',
  'model',
  'language',
  'prompt',
  'keywords',
  'encoding',
  'sample_rate',
  'partials',
  'smart_format',
  'turn_detection',
  'silence_ms',
  'max_turn_ms',
  'sensitivity',
];

export function liveSocket(parts: LiveSocketParts): Dialect {
  return liveDialect(
    { name: 'transcription', path: '/v1/audio/transcriptions/stream' },
    parts,
    TranscriptionConversation,
  );
}

class TranscriptionConversation extends LiveConversation {
  #isEnding = false;

  protected override obey(fields: Fields): void {
    const type = stringIn(fields, 'type');
    if (type === 'config') return this.#configure(fields);
    if (type !== 'flush' && type !== 'end') throw invalid('type', 'must be "config", "flush" or "end"');
    refuseUnknown(fields, ['type'], `a message of type "${type}"`);
    if (!this.client.isOpen)
      throw new ParleyError('MALFORMED', 'the first message must be {"type": "config", …}');
    if (type === 'flush') return this.client.commit();
    if (this.#isEnding) return undefined;
    this.#isEnding = true;
    void this.end((seconds) => ({ type: 'done', seconds: rounded(seconds) }));
    return undefined;
  }

  #configure(fields: Fields): void {
    if (this.client.isOpen) throw new ParleyError('MALFORMED', 'the configuration may come only once');
    refuseUnknown(fields, CONFIG_FIELDS, 'the configuration');
    this.parts.checkModel(readModel(fields));
    const encoding = choiceIn(fields, 'encoding', SOUND_ENCODINGS) ?? 'pcm_s16le';
    const rate = wholeIn(fields, 'sample_rate', ...LIVE_RATES) ?? LIVE_RATE;
    const turns = choiceIn(fields, 'turn_detection', ['server', 'none']) ?? 'server';
    const partials = flagIn(fields, 'partials') ?? true;
    const request: LiveRequest = {
      name: this.requestId,
      language: readLanguage(fields),
      context: contextIn(fields),
      partials,
      smartFormat: flagIn(fields, 'smart_format'),
      turns: turnsIn(fields),
      endsTurns: turns === 'server' ? 'silence' : 'commit',
      listener: {
        speechStarted: (turn, start) => this.send({ type: 'speech_started', turn, start: rounded(start) }),
        speechStopped: (turn, end) => this.send({ type: 'speech_stopped', turn, end: rounded(end) }),
        partial: (text) => this.send({ type: 'partial', ...textFields(text), stable: text.stable }),
        final: (text) => this.send({ type: 'final', ...textFields(text) }),
        failed: (error) => this.fail(error),
      },
    };
    this.client.begin({ encoding, rate }, request);
    const tells = partials && liveTranscriberOf(this.parts).tellsPartials;
    this.send({ type: 'ready', encoding, sample_rate: rate, partials: tells });
  }

  protected override errorMessage({ code, message, field }: SocketError): object {
    return { type: 'error', code, message, param: field ?? null };
  }
}

function textFields({ part: turn, text, language, beginSeconds, endSeconds }: RecognisedText) {
  return { turn, text, language: language ?? null, start: rounded(beginSeconds), end: rounded(endSeconds) };
}

/** To milliseconds. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

// The sound of a Realtime conversation over WebSocket. The client sends its sound in events. The server sends
// the sound of each response in events, when it is due.
//
//   in   input_audio_buffer.append, .commit, .clear
//   out  response.output_audio.delta, .done
//
// The end of a response is told when its sound has ended, as OpenAI does.
import type { Output, TalkEvent, TalkResponse } from '../../agents/talk-response.js';
import type { SoundCall, SoundFormats } from '../../call/sound-calls.js';
import type { FrameCodec } from '../../call/sound-port.js';
import { A_LAW_VALUES, LEAST_AUDIBLE, MU_LAW_VALUES } from '../../codecs/g711.js';
import { ParleyError } from '../../errors.js';
import { type Fields, invalid, soundIn, wholeIn } from '../http/message-fields.js';
import { objectIn } from './realtime-fields.js';
import { partOf, type RealtimeEvent } from './realtime-objects.js';

/** An event of a response that waits until sound has ended. */
type HeldEvent = Extract<TalkEvent, { type: 'output.done' | 'response.done' }>;
type WrittenEvent = Exclude<TalkEvent, { type: 'failed' }>;

export interface AppendedSound {
  readonly ms: number;
  /** Its end that nobody can hear; all of it, if the whole is silent. */
  readonly silentEndMs: number;
}

interface RealtimeSoundParts {
  readonly call: Pick<SoundCall, 'receive' | 'drop' | 'change' | 'formats'>;
  /** Sends an event of the conversation, or one of the sound. */
  readonly write: (event: WrittenEvent) => void;
  readonly send: (event: RealtimeEvent) => void;
}

const CODECS: Readonly<Record<string, FrameCodec>> = {
  'audio/pcm': 'L16',
  'audio/pcmu': 'PCMU',
  'audio/pcma': 'PCMA',
};
const PCM_RATE = 24_000; // Hz
const BYTES_PER_MS: Readonly<Record<FrameCodec, number>> = {
  L16: (2 * PCM_RATE) / 1000,
  PCMU: 8,
  PCMA: 8,
};
const MOST_CHANGES = 8; // of the formats

export const USUAL_FORMATS: SoundFormats = { sends: 'L16', receives: 'L16' };

export class RealtimeSound {
  readonly #parts: RealtimeSoundParts;
  /** The item that is heard now. */
  #heard: Output | undefined;
  /** The frame that left last: an item is told to be heard when its first frame has left. */
  #last: Buffer = Buffer.alloc(0);
  readonly #held = new Map<TalkResponse, HeldEvent[]>();
  #changes = 0;

  constructor(parts: RealtimeSoundParts) {
    this.#parts = parts;
  }

  get formats(): SoundFormats {
    return this.#parts.call.formats;
  }

  /** Throws CALL_STATE after many changes, because each opens another stream. */
  change(formats: SoundFormats): void {
    const { sends, receives } = this.formats;
    if (formats.sends === sends && formats.receives === receives) return;
    if (++this.#changes > MOST_CHANGES)
      throw new ParleyError('CALL_STATE', `the formats of a session change ${MOST_CHANGES} times at most`);
    this.#parts.call.change(formats);
  }

  /**
   * Audible sound takes the place of the last `silentMs` of what was appended, if that is not due yet. Throws
   * INVALID_FIELD and QUEUE_FULL.
   */
  append(fields: Fields, silentMs: number): AppendedSound {
    const sound = soundIn(fields, 'audio');
    const codec = this.formats.receives;
    const isPcm = codec === 'L16';
    if (isPcm && sound.length % 2 !== 0) throw invalid('audio', 'must have whole samples of 16 bits');
    const silentBytes = sound.length - audibleBytes(sound, codec);
    if (silentBytes < sound.length) this.drop(silentMs);
    // The client writes the least significant byte first, and RTP the most significant one.
    this.#parts.call.receive(isPcm ? sound.swap16() : sound);
    const perMs = BYTES_PER_MS[codec];
    return { ms: sound.length / perMs, silentEndMs: silentBytes / perMs };
  }

  /** Forgets the last `ms` of what was appended, if it is not due yet. */
  drop(ms: number): void {
    this.#parts.call.drop(ms);
  }

  /** The client was not told yet that the response of this id is done, or any, without an id. */
  holds(id?: string): boolean {
    return [...this.#held.keys()].some((response) => (id ?? response.id) === response.id);
  }

  /** The next 20 ms of the call. */
  frame(payload: Uint8Array): void {
    if (this.#last.length !== payload.length) this.#last = Buffer.alloc(payload.length);
    this.#last.set(payload);
    if (this.formats.sends === 'L16') this.#last.swap16();
    this.#sendFrame();
  }

  #sendFrame(): void {
    if (this.#heard === undefined || this.#last.length === 0) return;
    const delta = this.#last.toString('base64');
    this.#parts.send({ type: 'response.output_audio.delta', ...partOf(this.#heard), delta });
  }

  /** Takes an event of the conversation, and writes it in its time. */
  tell(event: WrittenEvent): void {
    this.#take(event);
    this.settle();
  }

  /** Writes what waited for sound that does not come any more. */
  settle(): void {
    for (const response of this.#held.keys()) this.#release(response);
  }

  #take(event: WrittenEvent): void {
    switch (event.type) {
      case 'sound.started':
        this.#heard = event.response.outputs.find(({ item }) => item === event.item);
        return this.#sendFrame();
      case 'sound.stopped':
      case 'sound.cleared':
        return this.#ended();
      case 'output.done':
        return this.#hold(event.output.response, event);
      case 'response.done':
        return this.#hold(event.response, event);
      default:
        this.#parts.write(event);
    }
  }

  #ended(): void {
    if (this.#heard === undefined) return;
    this.#parts.send({ type: 'response.output_audio.done', ...partOf(this.#heard) });
    this.#heard = undefined;
  }

  #hold(response: TalkResponse, event: HeldEvent): void {
    const held = this.#held.get(response) ?? [];
    held.push(event);
    this.#held.set(response, held);
  }

  #release(response: TalkResponse): void {
    if (this.#heard?.response === response) return;
    const held = this.#held.get(response) ?? [];
    const sounding = [...response.sounds.values()].map(({ item }) => item);
    for (;;) {
      const [event] = held;
      const waits = event?.type === 'output.done' ? isIn(sounding, event) : sounding.length > 0;
      if (event === undefined || waits) break;
      held.shift();
      this.#parts.write(event);
    }
    if (held.length === 0) this.#held.delete(response);
  }
}

/** Bytes before the silence at the end. */
function audibleBytes(sound: Buffer, codec: FrameCodec): number {
  if (codec === 'L16') {
    let end = sound.length;
    while (end > 0 && Math.abs(sound.readInt16LE(end - 2)) < LEAST_AUDIBLE) end -= 2;
    return end;
  }
  const values = codec === 'PCMU' ? MU_LAW_VALUES : A_LAW_VALUES;
  return sound.findLastIndex((code) => Math.abs(values[code] ?? 0) >= LEAST_AUDIBLE) + 1;
}

function isIn(items: readonly object[], { output }: Extract<HeldEvent, { type: 'output.done' }>): boolean {
  return items.includes(output.item);
}

/** The formats after an update of the session. Throws INVALID_FIELD. */
export function readFormats(session: Fields, before: SoundFormats): SoundFormats {
  const audio = objectIn(session, 'audio') ?? {};
  return {
    receives: readFormat(objectIn(audio, 'input') ?? {}, 'audio.input.format') ?? before.receives,
    sends: readFormat(objectIn(audio, 'output') ?? {}, 'audio.output.format') ?? before.sends,
  };
}

function readFormat(side: Fields, name: string): FrameCodec | undefined {
  const format = objectIn(side, 'format');
  if (format === undefined) return undefined;
  const { type } = format;
  const codec = typeof type === 'string' && Object.hasOwn(CODECS, type) ? CODECS[type] : undefined;
  if (codec === undefined) throw invalid(`${name}.type`, `must be one of ${Object.keys(CODECS).join(', ')}`);
  if (codec === 'L16') wholeIn(format, 'rate', PCM_RATE, PCM_RATE);
  return codec;
}

/** A format in OpenAI's words. */
export function formatObject(codec: FrameCodec): object {
  return codec === 'L16' ? { type: 'audio/pcm', rate: PCM_RATE } : { type: `audio/${codec.toLowerCase()}` };
}

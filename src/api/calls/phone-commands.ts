// What may be done with a telephone call, for its routes and for its socket
// alike: a body that its schema let through, done, and what came of it.
import type { PlayedSound } from '../../speaking/line-piece.js';
import { ParleyError } from '../../errors.js';
import { type DtmfBody, readDigits, readSpeech, readTransfer, type SpeechFields } from './phone-call-body.js';
import { type PhoneDoor, phoneFailure } from './phone-door.js';
import { callForm } from './phone-forms.js';

export const COMMANDS = ['say', 'play', 'interrupt', 'dtmf', 'transfer', 'hold', 'resume', 'hangup'] as const;
export type CommandName = (typeof COMMANDS)[number];

/** A sound as a request brings it. */
export interface PlayRequest {
  /** The file itself, or a URL of it. */
  readonly source: string | Uint8Array;
  /** Where it stands in the request. */
  readonly field: string;
  readonly times?: number | undefined;
}

export interface PlayBody {
  readonly audio?: string;
  readonly url?: string;
  readonly times?: number;
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

export class PhoneCommands {
  readonly #door: PhoneDoor;

  constructor(door: PhoneDoor) {
    this.#door = door;
  }

  /** Rejects with what the call says of it, in the words of requests. `signal` gives up what is not begun. */
  async run(name: CommandName, id: string, body: unknown, signal: AbortSignal): Promise<object> {
    try {
      return await this.#run(name, id, body, signal);
    } catch (error) {
      throw phoneFailure(error);
    }
  }

  /** As `run`, of a sound however it came. */
  async play(id: string, { source, field, times }: PlayRequest, signal: AbortSignal): Promise<object> {
    const { calls, sounds } = this.#door;
    try {
      calls.get(id); // before anything is decoded for nobody
      const sound = await sounds.read(source, field, signal);
      const played: PlayedSound = { ...sound, ...(times === undefined ? {} : { times }) };
      return utteranceForm(id, calls.play(id, played).utterance);
    } catch (error) {
      throw phoneFailure(error);
    }
  }

  async #run(name: CommandName, id: string, body: unknown, signal: AbortSignal): Promise<object> {
    const { calls } = this.#door;
    switch (name) {
      case 'say':
        return utteranceForm(id, calls.say(id, readSpeech(body as SpeechFields)).utterance);
      case 'play':
        return this.play(id, readPlayBody(body as PlayBody), signal);
      case 'interrupt':
        return this.#interrupt(id);
      case 'dtmf': {
        const request = readDigits(body as DtmfBody);
        await calls.press(id, request);
        return { object: 'call.dtmf', call: id, digits: request.digits };
      }
      case 'transfer': {
        const { accepted, status } = await calls.transfer(id, readTransfer(body as object));
        return { object: 'call.transfer', call: id, accepted, status };
      }
      case 'hold':
      case 'resume':
        return callForm(await calls.hold(id, name === 'hold'));
      case 'hangup':
        return callForm(await calls.hangUp(id));
    }
  }

  #interrupt(id: string): object {
    const { text, utterances } = this.#door.calls.interrupt(id);
    return {
      object: 'call.interruption',
      call: id,
      text,
      utterances: utterances.map(({ utterance, text: heard, sentMs }) => ({
        utterance,
        text: heard,
        sent_ms: sentMs,
      })),
    };
  }
}

/** Throws INVALID_FIELD. */
export function readPlayBody({ audio, url, times }: PlayBody): PlayRequest {
  if (url !== undefined) {
    if (audio !== undefined) throw invalid('url', '"url" must be absent where there is "audio"');
    return { source: url, field: 'url', times };
  }
  if (audio === undefined) throw invalid('audio', '"audio" must be a file in base64, or "url" its address');
  if (/^data:/i.test(audio)) return { source: audio, field: 'audio', times };
  if (!BASE64.test(audio)) {
    throw invalid(
      'audio',
      '"audio" must be a file in base64, bare or as a data: URL; an address goes into "url"',
    );
  }
  return { source: Buffer.from(audio, 'base64'), field: 'audio', times };
}

function utteranceForm(call: string, utterance: number): object {
  return { object: 'call.utterance', call, utterance };
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}

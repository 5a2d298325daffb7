// Sounds that documents name by URL, as decoded samples. The fetcher brings the file, so that its rules of
// hosts and sizes hold; the server's reader of sound files decodes it.
import { isAborted, ParleyError } from '../../errors.js';
import { ProgramError } from '../../ivr/door.js';
import type { PlayedSound } from '../../speaking/speech-piece.js';
import type { PlayedSounds } from '../../voices/references.js';
import type { Fetched } from './document-fetch.js';
import { shownUrl } from './document-url.js';
import { INVALID_SOUND } from './twiml-errors.js';

const RAW_MU_LAW = /^audio\/(?:basic|(?:x-)?(?:mu|u)law|pcmu)$/;
const RATE = 8000; // Hz
const MU_LAW = 7; // its format tag (RFC 2361)
const HEAD_BYTES = 44;

export class DocumentSounds {
  readonly #reader: Pick<PlayedSounds, 'read'>;
  /** Samples by the bytes that the cache of answers keeps; the reader decides how long they are kept. */
  readonly #decoded = new WeakMap<
    Buffer,
    { readonly samples: WeakRef<Float32Array>; readonly rate: number }
  >();

  constructor(reader: Pick<PlayedSounds, 'read'>) {
    this.#reader = reader;
  }

  /** Rejects with a ProgramError, or ABORTED. */
  async decode({ url, contentType, body }: Fetched, signal: AbortSignal): Promise<PlayedSound> {
    const document = shownUrl(url);
    if (!contentType.startsWith('audio/')) {
      const stated = contentType === '' ? 'it has none' : `not ${contentType.slice(0, 100)}`;
      const message = `the content type of a sound must be audio/*, ${stated}`;
      throw new ProgramError({ code: INVALID_SOUND, message, document });
    }
    const known = this.#decoded.get(body);
    const samples = known?.samples.deref();
    if (known !== undefined && samples !== undefined) return { samples, sampleRate: known.rate };
    try {
      const isRaw = RAW_MU_LAW.test(contentType) && body.toString('latin1', 0, 4) !== 'RIFF';
      const sound = await this.#reader.read(isRaw ? muLawFile(body) : body, 'Play', signal);
      this.#decoded.set(body, { samples: new WeakRef(sound.samples), rate: sound.sampleRate });
      return sound;
    } catch (error) {
      if (!(error instanceof ParleyError) || isAborted(error)) throw error;
      const message = `the sound cannot be played: ${error.message}`;
      throw new ProgramError({ code: INVALID_SOUND, message, document }, { cause: error });
    }
  }
}

/** A WAV file of bare µ-law samples. */
function muLawFile(samples: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(samples.length + HEAD_BYTES - 8, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(MU_LAW, 20);
  head.writeUInt16LE(1, 22); // one channel
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE, 28); // bytes in a second
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

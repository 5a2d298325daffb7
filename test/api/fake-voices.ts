// Voices made over HTTP that stand nowhere but in a list.
import { ParleyError } from '../../src/errors.js';
import type { MadeVoice, NewVoice, VoiceSource } from '../../src/api/openai/voice-source.js';

export class FakeVoices implements VoiceSource {
  readonly made: MadeVoice[] = [];
  /** The sample of each, in order. */
  readonly samples: (Uint8Array | undefined)[] = [];
  /** No engine can speak with such a voice. */
  cannot: 'sample' | 'prompt' | undefined;

  list(): readonly MadeVoice[] {
    return this.made;
  }

  find(idOrName: string): MadeVoice | undefined {
    return this.made.find(({ id, name }) => id === idOrName || name === idOrName);
  }

  make(voice: NewVoice, sample: Uint8Array | undefined): Promise<MadeVoice> {
    this.samples.push(sample);
    const made = { ...voice, id: `voice_${this.samples.length}`, createdAt: 1_700_000_000 };
    this.made.push(made);
    return Promise.resolve(made);
  }

  remove(idOrName: string): Promise<boolean> {
    const voice = this.find(idOrName);
    if (voice === undefined) return Promise.resolve(false);
    this.made.splice(this.made.indexOf(voice), 1);
    return Promise.resolve(true);
  }

  checkAble(kind: 'sample' | 'prompt', _language: string | undefined, field: string): void {
    if (kind !== this.cannot) return;
    throw new ParleyError('CAPABILITY_MISSING', `no engine of this server can: flite cannot`, { field });
  }
}

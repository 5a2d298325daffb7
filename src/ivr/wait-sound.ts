// Plays to a caller while a verb has it wait: a program, and the usual music where that program fails, or
// where nobody else plays it.
import type { Call } from '../call/call.js';
import { warningOf } from './door.js';
import type { NestedEnd, Scene } from './scene.js';
import type { Target, Verb, VerbResult } from './verbs.js';

interface WaitSoundParts {
  readonly call: Pick<Call, 'play' | 'interrupt'>;
  readonly scene: Pick<Scene, 'within' | 'joining' | 'warn'>;
  /** The verbs that the program may have. */
  readonly allowed: readonly Verb['verb'][];
}

const MOST_TIMES = 1000; // of the music, for as long as anybody waits

export class WaitSound {
  readonly #parts: WaitSoundParts;
  readonly #stopped = new AbortController();
  #hasMusic = false;

  constructor(parts: WaitSoundParts) {
    this.#parts = parts;
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Performs the program at a target once. Never rejects. */
  perform(target: Target, result: VerbResult): Promise<NestedEnd> {
    const { scene, allowed } = this.#parts;
    return scene.within({ target, result, allowed, signal: this.#stopped.signal });
  }

  /** The usual music. Never rejects. */
  async music(): Promise<void> {
    const { call, scene } = this.#parts;
    try {
      const sound = await scene.joining.sounds.music(undefined);
      if (this.isStopped) return;
      call.play({ ...sound, times: MOST_TIMES }, 'none');
      this.#hasMusic = true;
    } catch (error) {
      if (!this.isStopped) scene.warn(warningOf(error));
    }
  }

  /** Within one frame. Idempotent. */
  stop(): void {
    this.#stopped.abort();
    if (this.#hasMusic) this.#parts.call.interrupt('call program');
    this.#hasMusic = false;
  }
}

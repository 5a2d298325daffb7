// Says, plays and pauses: the verbs that a caller hears, alone or within a gather. The next prompt is queued
// while the one before it is heard, so that there is no gap between them.
import type { Call } from '../call/call.js';
import type { Interruptible, Utterance } from '../call/utterance.js';
import { ParleyError } from '../errors.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import { stated } from '../stated.js';
import type { Time } from '../time.js';
import { type Door, warningOf } from './door.js';
import type { Outcome, Scene } from './scene.js';
import type { Prompt, Say } from './verbs.js';

/** Names in a text that this server may lack: it is said without them then. */
const LACKING: ReadonlySet<string> = new Set(['VOICE_UNKNOWN', 'LANGUAGE_UNAVAILABLE']);

export async function prompt(verb: Prompt, scene: Scene): Promise<Outcome> {
  if (verb.verb === 'pause') await waited(verb.ms, scene.time, scene.signal);
  else {
    const { call } = await scene.answered();
    await new Prompter(call, scene, 'none').heard([verb]);
  }
  return 'next';
}

/** Resolves after so long, or when it is aborted. */
export async function waited(ms: number, time: Time, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const over = () => {
      cancel();
      signal.removeEventListener('abort', over);
      resolve();
    };
    const cancel = time.after(ms, over);
    signal.addEventListener('abort', over);
  });
}

type PromptedCall = Pick<Call, 'speak' | 'play' | 'interrupt'>;
type PromptScene = Pick<Scene, 'signal' | 'time' | 'warn'> & { readonly door: Pick<Door, 'sound'> };

export class Prompter {
  readonly #call: PromptedCall;
  readonly #scene: PromptScene;
  readonly #interruptible: Interruptible;

  /** The prompts are cut when the signal of the scene is aborted. */
  constructor(call: PromptedCall, scene: PromptScene, interruptible: Interruptible) {
    this.#call = call;
    this.#scene = scene;
    this.#interruptible = interruptible;
  }

  /** Resolves when all were heard, or when the caller or the signal has interrupted them. Never rejects. */
  async heard(prompts: readonly Prompt[]): Promise<void> {
    const { signal } = this.#scene;
    const sounds = await this.#sounds(prompts);
    const cut = () => void this.#call.interrupt('call program');
    signal.addEventListener('abort', cut, { once: true });
    try {
      await this.#play(prompts, sounds);
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  /** All sounds, before the first prompt is heard. One that cannot be had is left out. */
  async #sounds(prompts: readonly Prompt[]): Promise<ReadonlyMap<string, PlayedSound>> {
    const { door, signal } = this.#scene;
    const names = new Set(prompts.flatMap((one) => (one.verb === 'play' ? [one.sound] : [])));
    const sounds = new Map<string, PlayedSound>();
    await Promise.all(
      [...names].map(async (name) => {
        try {
          sounds.set(name, await door.sound(name, signal));
        } catch (error) {
          this.#failed(error);
        }
      }),
    );
    return sounds;
  }

  async #play(prompts: readonly Prompt[], sounds: ReadonlyMap<string, PlayedSound>): Promise<void> {
    const { signal, time } = this.#scene;
    let before: Utterance | undefined;
    for (const one of prompts) {
      if (one.verb === 'pause') {
        if (await isCut(before)) return;
        before = undefined;
        await waited(one.ms, time, signal);
        continue;
      }
      for (let times = 0; times < one.times; times++) {
        if (signal.aborted) return;
        const now = one.verb === 'say' ? this.#say(one) : this.#sound(sounds.get(one.sound));
        if (await isCut(before)) return;
        before = now;
        if (now === undefined) break;
      }
    }
    await isCut(before);
  }

  #say({ text, format, voice, language }: Say): Utterance | undefined {
    const options = { format, interruptible: this.#interruptible };
    try {
      return this.#call.speak(text, { ...options, ...stated({ voice, language }) });
    } catch (error) {
      this.#failed(error);
      if (!(error instanceof ParleyError && LACKING.has(error.code))) return undefined;
    }
    try {
      return this.#call.speak(text, options);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #sound(sound: PlayedSound | undefined): Utterance | undefined {
    if (sound === undefined) return undefined;
    try {
      return this.#call.play(sound, this.#interruptible);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #failed(error: unknown): void {
    if (this.#scene.signal.aborted) return;
    this.#scene.warn(warningOf(error));
  }
}

/** It was interrupted, or its call is over: what was queued behind it is dropped, too. */
async function isCut(utterance: Utterance | undefined): Promise<boolean> {
  return (await utterance?.ended)?.end === 'interrupted';
}

// `parley pull` against a fake hub, with a cache of its own and a time that pauses do not wait for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pullCommand, type PullSurroundings } from '../../src/models/pull-command.js';
import { ManualTime } from '../fakes/manual-time.js';
import { COMMIT, FakeHub, type FakeRepository } from './fake-hub.js';

export const ID = 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice';
export const NAME = 'qwen3-tts-0.6b';

const WEIGHTS = Buffer.alloc(3_000_000, 'weights of the talker, ');

export const FILES: Readonly<Record<string, Uint8Array>> = {
  'README.md': Buffer.from('# not read by engines'),
  'config.json': Buffer.from('{"tts_model_type":"custom_voice"}'),
  'merges.txt': Buffer.from('a b\n'),
  'model.safetensors': WEIGHTS,
  'onnx/model.safetensors': Buffer.from('not read by engines'),
  'pytorch_model.bin': Buffer.from('not read by engines'),
  'speech_tokenizer/config.json': Buffer.from('{}'),
  'speech_tokenizer/model.safetensors': Buffer.alloc(100_000, 'codec'),
};
export const FETCHED = Object.keys(FILES).filter((path) => !/^(?:README|onnx|pytorch)/.test(path));

export class PullUnderTest {
  readonly hub: FakeHub;
  readonly cache: string;
  readonly time = new ManualTime();
  readonly interruption = new AbortController();
  out = '';
  err = '';
  /** Pauses before further tries, in seconds. */
  readonly pauses: number[] = [];

  private constructor(hub: FakeHub, cache: string) {
    this.hub = hub;
    this.cache = cache;
  }

  static async open(t: TestContext, files = FILES): Promise<PullUnderTest> {
    return await PullUnderTest.openAll(t, [{ id: ID, commit: COMMIT, files }]);
  }

  static async openAll(t: TestContext, repositories: readonly FakeRepository[]): Promise<PullUnderTest> {
    const cache = mkdtempSync(join(tmpdir(), 'parley-pull-'));
    t.after(() => rmSync(cache, { recursive: true }));
    return new PullUnderTest(await FakeHub.openAll(t, repositories), cache);
  }

  get model(): string {
    return join(this.cache, `models--${ID.replace('/', '--')}`);
  }

  /** Runs the command. Returns its status; `out` and `err` are those of this run. */
  async run(
    args: string | readonly string[] = NAME,
    {
      env = {},
      columns,
      ...given
    }: { env?: Record<string, string>; columns?: number } & Partial<PullSurroundings> = {},
  ): Promise<number> {
    this.out = '';
    this.err = '';
    const output = {
      out: (text: string) => void (this.out += text),
      err: (text: string) => this.#read(text),
      columns,
    };
    const all = {
      HF_HUB_CACHE: this.cache,
      HF_ENDPOINT: this.hub.url,
      MOONSHINE_ENDPOINT: this.hub.url,
      ...env,
    };
    return await pullCommand([args].flat(), all, output, {
      time: this.time,
      signal: this.interruption.signal,
      ...given,
    });
  }

  /** Lets the pause that a line announces pass at once. */
  #read(text: string): void {
    this.err += text;
    const [, pause] = /another try in (\d+) s\n/.exec(text) ?? [];
    if (pause === undefined) return;
    this.pauses.push(Number(pause));
    setImmediate(() => this.time.advance(Number(pause) * 1000));
  }
}

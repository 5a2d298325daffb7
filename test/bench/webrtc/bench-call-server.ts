// The parent's side of a measured server of the bench webrtc: Parley or its rival.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerFigures, Speech } from './call-server.js';
import { SENTENCES } from './bench-text.js';
import { BenchProgram, SERVER_CORE } from './bench-program.js';
import type { SetUpResult, Standing } from './client-messages.js';

export type ServerKind = Speech | 'rival';

const ENVIRONMENT = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  SIP_ENABLED: '0',
  ICE_HOST_ADDRESSES: '127.0.0.1',
  WEBRTC_UDP_PORT: '0',
  MAX_CALLS: '2000',
  MAX_CPU_PERCENT: '0', // other programs on the processor must not refuse calls
  MAX_HALF_OPEN_PER_CLIENT: '2000',
  SETUP_TIMEOUT: '30',
  VOICES_DIR: '/nonexistent/voices',
};
const NO_CACHE = { FRAME_CACHE_BYTES: '0' };
const WARM_UP_AT_ONCE = 4;
const LOOK_MS = 250;
const LOOKS = 120;
const SETTLE_MS = 1500;
const IDLE_MS = 3000;

export class BenchCallServer {
  readonly url: string;
  readonly #process: BenchProgram;
  #idle = { cores: NaN, mainCores: NaN };
  /** Undefined if the frames of calls are not cached. */
  #missesBefore: number | undefined;

  private constructor(started: BenchProgram) {
    this.#process = started;
    this.url = (started.started as { url: string }).url;
  }

  static async start(kind: ServerKind): Promise<BenchCallServer> {
    const caches = kind === 'prepared' || kind === 'synthesised' ? NO_CACHE : {};
    const started = await BenchProgram.start({
      core: SERVER_CORE,
      file: kind === 'rival' ? './rival-server.js' : './call-server.js',
      args: [kind],
      nodeOptions: ['--expose-gc'],
      environment: { ...ENVIRONMENT, ...caches },
    });
    return new BenchCallServer(started);
  }

  /** Processor cores that the server, and its main thread alone, use without calls, after `warmUp`. */
  get idle(): { readonly cores: number; readonly mainCores: number } {
    return this.#idle;
  }

  /** Makes calls until V8 has compiled their code and the frames of the words are cached. */
  async warmUp(clients: BenchProgram, seconds: number, cached: boolean): Promise<void> {
    const { url } = this;
    const plan = { type: 'set-up', url, until: 'ready', calls: 1e6, atOnce: WARM_UP_AT_ONCE, seconds };
    const { readyMs, failed, failure } = await clients.ask<SetUpResult>(plan);
    if (readyMs.length === 0) throw new Error(`no call was set up, ${failed} failed: ${failure}`);
    if (cached) {
      await clients.ask<Standing>({ type: 'stand', url, calls: 1, atOnce: 1 });
      await waitFor(async () => (await this.#frames()).entries >= SENTENCES.length, 'no frames are cached');
      await clients.ask({ type: 'drop' });
      this.#missesBefore = await this.misses();
    }
    await this.empty();
    await sleep(SETTLE_MS);
    await this.begin();
    const main = this.mainSeconds();
    await sleep(IDLE_MS);
    this.#idle = {
      cores: (await this.figures()).cpuMs / IDLE_MS,
      mainCores: (1000 * (this.mainSeconds() - main)) / IDLE_MS,
    };
  }

  /** Resolves when no call is open. Rejects if a call with cached frames was served from an engine. */
  async empty(): Promise<void> {
    await this.idled();
    if (this.#missesBefore === undefined) return;
    const misses = (await this.misses()) - this.#missesBefore;
    if (misses > 0) throw new Error(`${misses} sentences were not cached`);
  }

  /** Resolves when no call is open. */
  idled(): Promise<void> {
    return waitFor(async () => (await this.figures()).calls === 0, 'calls were left open');
  }

  /** Figures count from here; room for so many packets' times. */
  begin(mostPackets = 0): Promise<object> {
    return this.#process.ask({ type: 'begin', mostPackets });
  }

  figures(): Promise<ServerFigures> {
    return this.#process.ask<ServerFigures>({ type: 'figures' });
  }

  /** Collects garbage. */
  collect(): Promise<object> {
    return this.#process.ask({ type: 'collect' });
  }

  /** Seconds of processor time of the main thread, since the start. */
  mainSeconds(): number {
    return this.#process.program.threadSeconds().get('main') ?? NaN;
  }

  /** Sentences so far whose frames were not cached. */
  async misses(): Promise<number> {
    return (await this.#frames()).misses;
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  async #frames(): Promise<{ entries: number; misses: number }> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? NaN);
    return { entries: value('parley_frame_cache_entries'), misses: value('parley_frame_cache_misses_total') };
  }
}

async function waitFor(condition: () => Promise<boolean>, complaint: string): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    if (await condition()) return;
    await sleep(LOOK_MS);
  }
  throw new Error(complaint);
}

// Runs in the worker thread of espeak: keeps one child process, passes it one sentence at a time, and writes
// the sound into the ring. A child that dies or hangs fails its sentence and is killed and replaced.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import { type Rendering, serveEngine, type SpeakJob } from '../engine-service.js';
import type { FromEspeak, ToEspeak } from './espeak-child.js';
import { ESPEAK_VOICES } from './espeak-voices.js';

export interface EspeakWorkerData {
  readonly packageFile: string;
  /** Program of the child, replaced in tests. */
  readonly childFile?: string | undefined;
  /** Milliseconds that the child may take to start. */
  readonly startTimeoutMs: number;
  /** Milliseconds that one sentence may take. */
  readonly renderTimeoutMs: number;
}

const CHILD_FILE = fileURLToPath(new URL('./espeak-child.js', import.meta.url));
const GAIN = 0.8; // brings espeak to the loudness of flite's voices

class Child {
  readonly ready: Promise<void>;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #take: ((message: FromEspeak) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;
  over = false;

  constructor(data: EspeakWorkerData) {
    this.#process = fork(data.childFile ?? CHILD_FILE, [data.packageFile], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    });
    this.#exited = once(this.#process, 'exit').catch(() => undefined);
    this.#process.on('message', (message) => this.#take?.(message as FromEspeak));
    this.#process.on('error', (error) => this.#end(error.message));
    this.#process.on('exit', (code, signal) => this.#end(`its process ended (${signal ?? code})`));
    this.ready = this.#answer(data.startTimeoutMs).then(() => undefined);
    this.ready.catch(() => undefined);
  }

  async speak(request: ToEspeak, timeoutMs: number): Promise<Extract<FromEspeak, { type: 'spoken' }>> {
    await this.ready;
    const answered = this.#answer(timeoutMs);
    this.#process.send(request);
    const answer = await answered;
    if (answer.type === 'failed') throw new Error(answer.message);
    if (answer.type !== 'spoken' || answer.id !== request.id)
      throw new Error('its process answered nonsense');
    return answer;
  }

  async close(): Promise<void> {
    this.#end('it was closed');
    await this.#exited;
  }

  #answer(timeoutMs: number): Promise<FromEspeak> {
    return new Promise<FromEspeak>((resolve, reject) => {
      const timer = setTimeout(() => this.#end(`it did not answer within ${timeoutMs} ms`), timeoutMs);
      this.#take = (message) => {
        clearTimeout(timer);
        resolve(message);
      };
      this.#fail = (error) => {
        clearTimeout(timer);
        reject(error);
      };
    });
  }

  #end(reason: string): void {
    if (this.over) return;
    this.over = true;
    this.#process.kill('SIGKILL');
    this.#fail?.(new Error(reason));
  }
}

const data = workerData as EspeakWorkerData;
let child = new Child(data);

/** Without a child the thread ends, so that the engine counts as lost and its lifecycle decides. */
async function replaceChild(): Promise<void> {
  await child.close();
  child = new Child(data);
  await child.ready.catch((error: unknown) => {
    setImmediate(() => {
      throw error;
    });
    throw error;
  });
}

async function render(job: SpeakJob): Promise<Rendering> {
  if (child.over) await replaceChild();
  const voice = ESPEAK_VOICES.find(({ name }) => name === job.voice);
  if (voice === undefined) throw new Error(`espeak has no voice "${job.voice}"`);
  const { id, text, hints } = job;
  const request = { id, text, hints, identifier: voice.identifier };
  const { samples, words } = await child.speak(request, data.renderTimeoutMs);
  return { samples, words, gain: GAIN };
}

await child.ready;
serveEngine({ render, close: () => child.close() });

// Engines that come and go behind a real server: loaded for the first request,
// let go when idle, and what clients meet while there is none.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import { Engines } from '../../../src/engines/routing.js';
import type { SpeechEngine } from '../../../src/engines/engine.js';
import { fliteEngine } from '../../../src/engines/flite/flite.js';
import { WorkerEngine } from '../../../src/engines/worker-engine.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn } from '../app-under-test.js';

const IDLE_MS = 60_000;
const LONG = 'And so it went on and on, and nobody knew what to do about it. '.repeat(60); // minutes
const ENVIRONMENT = { PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', LOG_LEVEL: 'silent' };

async function serve(t: TestContext, environment: Record<string, string>, engine?: SpeechEngine) {
  const engines = engine === undefined ? undefined : await Engines.of([engine]);
  const config = readConfig({ ...ENVIRONMENT, ...environment });
  const server = await startServer(config, engines === undefined ? {} : { engines });
  t.after(() => server.close());
  return {
    ask: (input: string, signal?: AbortSignal) =>
      fetch(`${server.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'parley', input, response_format: 'pcm' }),
        ...(signal === undefined ? {} : { signal }),
      }),
    health: async (): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${server.url}/health`);
      return { code: answer.status, ...((await answer.json()) as object) };
    },
    modelLoaded: async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return /^tts_model_loaded (.*)$/m.exec(text)?.[1];
    },
  };
}

/** An engine whose thread does as the test says, or does not come up. */
function oddEngine(data?: string): WorkerEngine {
  return new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes: false,
      textStreaming: false,
      languages: ['en'],
    },
    voices: [{ name: 'odd', engine: 'odd', languages: ['en'], description: '' }],
    rateOf: () => 24_000,
    warmsUp: false,
    limits: { maxWaiting: 8, renderTimeoutMs: 20_000 },
    thread: {
      engine: 'odd',
      file: new URL('../../engines/odd-worker.js', import.meta.url),
      data,
      renderTimeoutMs: 20_000,
    },
  });
}

test('the first request loads the engine, idleness lets it go, and what is in the cache does not bring it back', async (t) => {
  const time = new ManualTime();
  const engine = fliteEngine({ maxWaiting: 8, renderTimeoutMs: 20_000, idleMs: IDLE_MS, time });
  const { ask, health, modelLoaded } = await serve(t, { PRELOAD_MODEL: '0' }, engine);
  const received = await health();
  assert.deepEqual([received.code, received['status'], received['model_loaded']], [200, 'ok', false]);
  assert.deepEqual([received['engine'], received['device'], received['cuda']], ['flite', 'cpu', false]);
  assert.equal(await modelLoaded(), '0');

  const first = await ask('Good morning.');
  const sound = Buffer.from(await first.arrayBuffer());
  assert.deepEqual([first.status, first.headers.get('x-cache')], [200, 'miss']);
  assert.deepEqual([(await health())['model_loaded'], await modelLoaded()], [true, '1']);

  time.advance(IDLE_MS);
  assert.deepEqual([engine.loaded, (await health())['status']], [false, 'ok']);
  const again = await ask('Good morning.');
  assert.equal(again.headers.get('x-cache'), 'hit');
  assert.ok(sound.equals(Buffer.from(await again.arrayBuffer())));
  assert.equal((await health())['model_loaded'], false);

  assert.equal((await ask('Good evening.')).status, 200);
  assert.equal(engine.loaded, true);
});

test('IDLE_TIMEOUT and PRELOAD_MODEL come from the environment; by default the engine is there, and stays', async (t) => {
  const usual = await serve(t, {});
  assert.equal((await usual.health())['model_loaded'], true);
  const lazy = await serve(t, { PRELOAD_MODEL: '0', IDLE_TIMEOUT: '0.05' });
  assert.equal((await lazy.health())['model_loaded'], false);
  for (const text of ['One is made.', 'And another.']) {
    assert.equal((await lazy.ask(text)).status, 200);
    const limit = performance.now() + 10_000;
    while ((await lazy.health())['model_loaded'] === true) assert.ok(performance.now() < limit);
  }
  assert.equal((await usual.health())['model_loaded'], true);
});

test('a server whose engine cannot be loaded does not start, unless it need not be loaded yet', async (t) => {
  await assert.rejects(serve(t, {}, oddEngine('crash at load')), {
    code: 'ENGINE_FAILED',
    message: /the voices are missing/,
  });
  const { ask, health } = await serve(t, { PRELOAD_MODEL: '0' }, oddEngine('crash at load'));
  assert.equal((await health()).code, 200, 'nothing is known against it');
  for (const text of ['One.', 'Two.']) {
    const answer = await ask(text);
    assert.equal(answer.status, 503);
    const { code, message } = errorIn(await answer.text());
    assert.equal(code, 'engine_unavailable');
    assert.ok(!message.includes('the voices are missing'), 'what is wrong is for the log');
    assert.match(answer.headers.get('retry-after') ?? '', /^[123]$/);
  }
  const received = await health();
  assert.deepEqual([received.code, received['status'], received['engines']], [503, 'no engine', { odd: false }]);
});

test('a client that leaves while the engine is loaded frees its place for the next one', async (t) => {
  const engine = oddEngine('hang at load');
  const { ask } = await serve(t, { PRELOAD_MODEL: '0' }, engine);
  const clients = Array.from({ length: 3 }, () => new AbortController());
  const asked = Promise.allSettled(clients.map(({ signal }, n) => ask(`This is number ${n}.`, signal)));
  await until(() => engine.waiting === 2);
  clients[0]?.abort(); // it had its turn, and waited for the load
  await until(() => engine.waiting === 1);
  clients[2]?.abort(); // one of the others is next, the other one or the same
  clients[1]?.abort();
  await until(() => engine.waiting === 0);
  const ends = await asked;
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
});

test('a load that takes longer than a request may is answered with 504', async (t) => {
  const engine = oddEngine('hang at load');
  const { ask } = await serve(t, { PRELOAD_MODEL: '0', REQUEST_TIMEOUT: '0.1' }, engine);
  const answers = await Promise.all([ask('One.'), ask('Two.')]);
  for (const answer of answers) {
    assert.equal(answer.status, 504);
    assert.equal(errorIn(await answer.text()).code, 'timeout');
  }
  await until(() => engine.waiting === 0);
});

test('a client that dawdles keeps the engine from nobody, and lets go of it when it leaves', async (t) => {
  const time = new ManualTime();
  const engine = fliteEngine({ maxWaiting: 8, renderTimeoutMs: 20_000, idleMs: IDLE_MS, time });
  const { ask } = await serve(t, {}, engine);
  const client = new AbortController();
  const slow = await ask(LONG, client.signal);
  assert.equal((await ask('Somebody else.')).status, 200);
  time.advance(IDLE_MS);
  client.abort();
  await assert.rejects(slow.arrayBuffer(), { name: 'AbortError' });
  await until(() => {
    time.advance(IDLE_MS); // from when nothing is in hand any more
    return !engine.loaded;
  });
  assert.equal((await ask('Whoever comes next.')).status, 200);
});

test('SILENCE_THRESHOLD_DB is how loud the edges of a sentence have to be', async (t) => {
  const lengths: number[] = [];
  for (const threshold of ['-120', '-50', '-20']) {
    const { ask } = await serve(t, { SILENCE_THRESHOLD_DB: threshold });
    lengths.push((await (await ask('Hush, hush, hush.')).arrayBuffer()).byteLength);
  }
  const [all = 0, usual = 0, loud = 0] = lengths;
  assert.ok(all > usual && usual > loud && loud > 0, lengths.join(' > '));
});

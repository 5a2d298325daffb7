// Runs the whole program with a fake driver and GPU: a GPU that fails, a GPU that is missing at the start,
// and its metrics.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { GpuServer } from './fakes/gpu-server.js';
import { WeriftClient } from './signaling/werift-client.js';

const LONG = 'And so it went on and on, and nobody knew what to do about it. '.repeat(30);
const LOSS = /fallen off the bus \(Xid 79\)/;

async function codeIn(answer: Response): Promise<[number, string]> {
  const { error } = (await answer.json()) as { error: { code: string } };
  return [answer.status, error.code];
}

/** A call of the server that is being spoken to, by its GPU. */
async function spokenTo(t: TestContext, server: GpuServer) {
  const client = new WeriftClient('PCMU');
  t.after(() => client.close());
  const answer = await fetch(`${await server.url()}/v1/realtime/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: await client.offer(),
  });
  assert.equal(answer.status, 201);
  await client.accept(await answer.text());
  await client.until(() => client.channel.readyState === 'open', 'open channel');
  client.send({ type: 'text', token: LONG, last: true, voice: 'vivian' });
  await client.until(() => client.packets.some(({ payload }) => isTone(payload)), 'sound of the GPU');
  return client;
}

/** The fake's sound is a square wave of one level; silence and a voice are none. */
function isTone(payload: Uint8Array): boolean {
  const loud = payload.filter((byte) => (byte & 0x7f) < 0x30).length;
  const quiet = payload.filter((byte) => (byte & 0x7f) > 0x60).length;
  return payload.length === 160 && loud > 140 && quiet === 0;
}

function isSilent(payload: Uint8Array): boolean {
  return payload.every((byte) => (byte & 0x7f) > 0x70);
}

test('a call whose GPU is lost is told so, hears the hang-up phrase from the other engine, and ends', async (t) => {
  const server = GpuServer.start(t);
  assert.deepEqual(await server.health().then(({ code, body }) => [code, body.cuda]), [200, true]);
  const client = await spokenTo(t, server);
  server.becomes('lost');
  const failed = await client.until(
    () => client.messages.find(({ type }) => type === 'utterance.failed'),
    'failure',
  );
  assert.equal((failed.error as { code: string }).code, 'ENGINE_LOST');
  const told = client.packets.length;
  await client.until(() => client.channel.readyState === 'closed', 'end of the call');
  const after = client.packets.slice(told).map(({ payload }) => payload);
  const voiced = after.filter((payload) => !isSilent(payload) && !isTone(payload));
  assert.ok(voiced.length > 100, `${voiced.length} packets of a voice`);
  assert.equal(after.some(isTone), false);
  const closed = await server.logged('call closed');
  assert.equal(closed.reason, 'engine lost');
});

test('a server whose GPU is lost is not ready and says why; what needs it is refused, other words go to the other engine', async (t) => {
  const server = GpuServer.start(t);
  const cut = await server.say({ input: LONG, voice: 'vivian' });
  assert.equal(cut.status, 200);
  const reader = cut.body?.getReader();
  assert.ok(reader !== undefined);
  await reader.read();
  server.becomes('lost');
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, 'a sound that broke off is not whole');
  const { code, body } = await server.until('unreadiness', async () => {
    const health = await server.health();
    return health.code === 503 ? health : undefined;
  });
  assert.deepEqual(
    [code, body.status, (body.engines as { qwen3: boolean }).qwen3],
    [503, 'engine down', false],
  );
  assert.match(String(body.reason), LOSS);
  assert.match(String((await server.logged('engine lost')).reason), LOSS);
  await server.logged('engine load failed');
  assert.deepEqual(await codeIn(await server.say({ input: 'Hello.', voice: 'vivian' })), [
    503,
    'engine_unavailable',
  ]);
  const other = await server.say({ input: 'Hello there.' });
  assert.equal(other.status, 200);
  assert.ok((await other.arrayBuffer()).byteLength > 10_000);
  assert.match(String((await server.health()).body.reason), /fallen off the bus/);
});

test('a request that the GPU is lost for before its first sound is refused as such', async (t) => {
  const server = GpuServer.start(t, { environment: { PRELOAD_MODEL: '0', ENGINE: 'qwen3' } });
  await (await server.say({ input: 'Hello.', voice: 'vivian' })).arrayBuffer();
  server.becomes('lost');
  assert.deepEqual(await codeIn(await server.say({ input: 'Hello again.', voice: 'vivian' })), [
    503,
    'engine_lost',
  ]);
  assert.deepEqual(await codeIn(await server.say({ input: 'And again.', voice: 'vivian' })), [
    503,
    'engine_unavailable',
  ]);
  assert.equal((await server.health()).body.status, 'no engine');
});

test('a GPU that answers again is used again, and the server is ready again', async (t) => {
  const server = GpuServer.start(t);
  await (await server.say({ input: 'Hello.', voice: 'vivian' })).arrayBuffer();
  server.becomes('lost');
  await server.say({ input: 'Hello again.', voice: 'vivian' });
  await server.logged('engine load failed');
  server.becomes('well');
  await server.until('readiness', async () => ((await server.health()).code === 200 ? true : undefined));
  const answer = await server.say({ input: 'Hello once more.', voice: 'vivian' });
  assert.equal(answer.status, 200);
  assert.equal('reason' in (await server.health()).body, false);
});

test('memory of the GPU that runs out while it speaks ends what needed it, and nothing else', async (t) => {
  const server = GpuServer.start(t);
  await (await server.say({ input: 'Hello.', voice: 'vivian' })).arrayBuffer();
  server.becomes('full');
  assert.deepEqual(await codeIn(await server.say({ input: 'Hello again.', voice: 'vivian' })), [
    503,
    'engine_busy',
  ]);
  assert.equal((await server.health()).code, 200);
  server.becomes('well');
  assert.equal((await server.say({ input: 'Hello once more.', voice: 'vivian' })).status, 200);
});

test('a GPU on which the model does not fit is an error that says how much is free', async (t) => {
  const server = GpuServer.start(t, { matter: 'full', environment: { PRELOAD_MODEL: '0' } });
  assert.deepEqual(await codeIn(await server.say({ input: 'Hello.', voice: 'vivian' })), [
    503,
    'engine_unavailable',
  ]);
  const { code, body } = await server.health();
  assert.deepEqual([code, body.status], [503, 'engine down']);
  assert.match(
    String(body.reason),
    /the model does not fit into the 7168 MiB that are free of 8192 MiB; other models here, or another process/,
  );
});

test('a GPU whose memory another process has is an error; when it is given back, the model is loaded', async (t) => {
  const server = GpuServer.start(t, { matter: 'taken', environment: { PRELOAD_MODEL: '0' } });
  assert.deepEqual(await codeIn(await server.say({ input: 'Hello.', voice: 'vivian' })), [
    503,
    'engine_unavailable',
  ]);
  assert.match(String((await server.health()).body.reason), /of the GPU's memory only 12 MiB are free/);
  server.becomes('well');
  await server.logged('engine loaded', 'qwen3');
  assert.equal((await server.health()).code, 200);
  assert.equal((await server.say({ input: 'Hello.', voice: 'vivian' })).status, 200);
});

test('once it spoke with a GPU, a server that may choose does not go on with its processor', async (t) => {
  const server = GpuServer.start(t, { environment: { DEVICE: 'auto' } });
  await (await server.say({ input: 'Hello.', voice: 'vivian' })).arrayBuffer();
  server.becomes('lost');
  await server.say({ input: 'Hello again.', voice: 'vivian' });
  const { reason } = await server.logged('engine load failed');
  assert.match(String(reason), /^cuda: cuda device 0: .*fallen off the bus/);
});

for (const [what, machine, why] of [
  ['a driver that is too old', { cuda: 12_080 }, /the driver is for CUDA 12\.8, needed is 13\.0 or newer/],
  ['a machine without a GPU', { gpus: 0 }, /no GPU is visible \(CUDA_VISIBLE_DEVICES\)/],
  [
    'a backend of other sources',
    { otherSources: true },
    /the CUDA backend was built from other sources than the engine/,
  ],
  ['a GPU that is dead at the start', { matter: 'dead' }, /the GPU has fallen off the bus/],
] as const) {
  test(`${what} ends the start with its reason where a GPU is asked for`, async (t) => {
    const { code, said } = await GpuServer.start(t, machine).ended();
    assert.notEqual(code, 0);
    assert.match(said, why);
  });

  test(`${what} leaves the processor where it may choose, and health says why`, async (t) => {
    const server = GpuServer.start(t, { ...machine, environment: { DEVICE: 'auto' } });
    const { code, body } = await server.health();
    assert.deepEqual([code, body.cuda], [200, false]);
    assert.match(String(body.no_cuda), why);
    assert.match(String((await server.logged('engine loaded', 'qwen3')).cuda), why);
  });
}

async function valueOf(server: GpuServer, name: string): Promise<number> {
  const line = await server.metric(name);
  assert.ok(line !== undefined, name);
  return Number(line.split(' ').at(-1));
}

test('memory, work and lists of a GPU are in /metrics and /health', async (t) => {
  const server = GpuServer.start(t);
  await (await server.say({ input: 'Hello there.', voice: 'vivian' })).arrayBuffer();
  const { body } = await server.health();
  assert.equal(body.gpu_total_mb, 8192);
  assert.deepEqual([body.streams, body.cuda], [0, true]);
  assert.ok(Number(body.busy) >= 0 && Number(body.busy) <= 1);
  const lists = body.gpu_lists as { eager: number; captured: number; launched: number; mb: number };
  assert.deepEqual([lists.eager, lists.captured, lists.launched > 10, lists.mb], [1, 1, true, 3]);
  assert.equal(await valueOf(server, 'parley_gpu_memory_total_bytes'), 8 * 2 ** 30);
  const used = await valueOf(server, 'parley_gpu_memory_used_bytes');
  assert.ok(used > 100_000 && used < 2 ** 30, `${used} bytes`);
  assert.equal(await valueOf(server, 'tts_gpu_allocated_bytes'), used);
  assert.equal(await valueOf(server, 'parley_gpu_lists_total{way="launched"}'), lists.launched);
  assert.equal(await valueOf(server, 'parley_gpu_lists_bytes'), 3 * 2 ** 20);
  assert.ok((await valueOf(server, 'parley_engine_busy_seconds_total')) > 0);
  assert.equal(await valueOf(server, 'parley_engine_streams'), 0);
});

test('what the environment asks of a GPU reaches its backend', async (t) => {
  const server = GpuServer.start(t, { environment: { FULL_VECTORS: '1', CUDA_GRAPHS: '0' } });
  assert.equal((await server.health()).body.gpu_name, 'cuda Fake GPU, no graphs, full vectors');
});

test('else its backend makes graphs and rounds vectors', async (t) => {
  const server = GpuServer.start(t);
  assert.equal((await server.health()).body.gpu_name, 'cuda Fake GPU');
});

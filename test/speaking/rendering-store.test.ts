// The store that servers share, in memory instead of Redis, and the values that it holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from '../fakes/properties.js';
import { RenderingStore, type StoreConnection } from '../../src/speaking/rendering-store.js';
import { NO_TIME, type Sound } from '../../src/speaking/sound.js';
import { packSound, unpackSound } from '../../src/speaking/stored-sound.js';
import { ManualTime } from '../fakes/manual-time.js';

const KEY = 'parley:rendering:a';
const GENERATION = 'parley:generation';
const TTL_SECONDS = 60;

function soundOf(text: string): Sound {
  const outcome = { durationMs: 10, sentences: [], timing: NO_TIME };
  return { contentType: 'audio/wav', bytes: Buffer.from(text), outcome };
}

/** A store in memory whose connections the test makes, holds and breaks. */
class FakeStore {
  readonly values = new Map<string, Uint8Array>();
  readonly ttls = new Map<string, number | undefined>();
  readonly connections: FakeConnection[] = [];
  reachable = true;
  /** Connections answer nothing. */
  silent = false;
  refusal: Error | undefined;
  attempts = 0;
  hanging = false;

  readonly connect = async (signal: AbortSignal): Promise<StoreConnection> => {
    this.attempts++;
    if (this.hanging) {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
      });
    }
    if (!this.reachable) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const connection = new FakeConnection(this);
    this.connections.push(connection);
    return connection;
  };

  get last(): FakeConnection {
    return this.connections.at(-1) ?? assert.fail('there was no connection');
  }
}

class FakeConnection implements StoreConnection {
  readonly ended: Promise<unknown>;
  closed = false;
  gets = 0;
  sets = 0;
  readonly #store: FakeStore;
  readonly #waiting = new Set<(error: Error) => void>();
  #end!: (reason: unknown) => void;

  constructor(store: FakeStore) {
    this.#store = store;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get(keys: readonly string[]): Promise<(Uint8Array | null)[]> {
    this.gets++;
    return this.#answer(() => keys.map((key) => this.#store.values.get(key) ?? null));
  }

  set(key: string, value: Uint8Array, ttlSeconds: number | undefined): Promise<void> {
    this.sets++;
    return this.#answer(() => {
      if (this.#store.refusal !== undefined) throw this.#store.refusal;
      this.#store.values.set(key, value);
      this.#store.ttls.set(key, ttlSeconds);
    });
  }

  close(): void {
    this.break(undefined);
  }

  break(reason: unknown): void {
    this.closed = true;
    for (const reject of this.#waiting) reject(new Error('the connection ended'));
    this.#waiting.clear();
    this.#end(reason);
  }

  #answer<T>(act: () => T): Promise<T> {
    if (this.closed) return Promise.reject(new Error('it is closed'));
    if (!this.#store.silent) return Promise.resolve().then(act);
    return new Promise((_, reject) => this.#waiting.add(reject));
  }
}

function openStore(fake = new FakeStore()) {
  const time = new ManualTime();
  const notices: string[] = [];
  let generations = 0;
  const store = new RenderingStore({
    connect: fake.connect,
    ttlSeconds: TTL_SECONDS,
    time,
    random: () => 1,
    newGeneration: () => `g${++generations}`,
    onLost: (reason) => void notices.push(`lost ${(reason as { code?: string } | undefined)?.code ?? ''}`),
    onThere: () => void notices.push('there'),
    onRefused: () => void notices.push('refused'),
  });
  return { fake, time, notices, store };
}

/** Everything that is only waiting for its turn has had it. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function textAt(store: RenderingStore, key = 'a'): Promise<string | undefined> {
  const { sound } = await store.look(key);
  return sound === undefined ? undefined : Buffer.from(sound.bytes).toString();
}

async function put(store: RenderingStore, text: string, key = 'a'): Promise<void> {
  const { leave } = await store.look(key);
  assert.ok(leave !== undefined, 'there is something already, or nothing is taken');
  leave(soundOf(text));
  await settled();
}

test('what one server leaves another finds, for as long as it was said to', async () => {
  const fake = new FakeStore();
  const first = openStore(fake);
  const second = openStore(fake);
  await settled();
  await put(first.store, 'hello');
  assert.equal(fake.ttls.get(KEY), TTL_SECONDS);
  assert.equal(await textAt(second.store), 'hello');
  const { sound } = await second.store.look('a');
  assert.deepEqual([sound?.contentType, sound?.outcome], ['audio/wav', soundOf('').outcome]);
  assert.deepEqual([first.notices, second.notices], [['there'], ['there']]);
});

test('before there is a connection every look is a miss at once', async () => {
  const fake = new FakeStore();
  fake.hanging = true;
  const { store, time, notices } = openStore(fake);
  assert.deepEqual(await store.look('a'), {});
  fake.hanging = false;
  time.advance(3000); // a connection that is not made by then is given up
  await settled();
  assert.deepEqual([notices, fake.attempts], [['lost '], 1]);
  time.advance(100);
  await settled();
  assert.deepEqual([notices, fake.attempts], [['lost ', 'there'], 2]);
  await put(store, 'hello');
});

test('a look waits 50 ms at most, and what comes later is nothing', async () => {
  const { store, fake, time } = openStore();
  await settled();
  fake.silent = true;
  let answer: unknown;
  void store.look('a').then((looked) => (answer = looked));
  time.advance(49);
  await settled();
  assert.equal(answer, undefined);
  time.advance(1);
  await settled();
  assert.deepEqual(answer, {});
});

test('after three times that looks waited in vain nobody waits any more', async () => {
  const { store, fake, time, notices } = openStore();
  await settled();
  fake.silent = true;
  for (const expected of [['there'], ['there'], ['there', 'lost TIMEOUT']]) {
    const looks = Array.from({ length: 10 }, () => store.look('a'));
    time.advance(50);
    assert.deepEqual(
      await Promise.all(looks),
      Array.from({ length: 10 }, () => ({})),
    );
    assert.deepEqual(notices, expected);
  }
  assert.deepEqual([fake.last.closed, fake.last.gets], [true, 30]);
  for (let n = 0; n < 100; n++) assert.deepEqual(await store.look('a'), {});
  assert.equal(fake.last.gets, 30);
  assert.equal(time.waiting, 1, 'only the next try');
});

test('one late answer among good ones changes nothing', async () => {
  const { store, fake, time, notices } = openStore();
  await settled();
  await put(store, 'hello');
  for (let round = 0; round < 10; round++) {
    fake.silent = true;
    const late = [store.look('a'), store.look('b')];
    time.advance(50);
    await Promise.all(late);
    fake.silent = false;
    assert.equal(await textAt(store), 'hello');
  }
  assert.deepEqual(notices, ['there']);
});

test('a connection that ends is made again, ever more slowly, with one line when lost and one when back', async () => {
  const { store, fake, time, notices } = openStore();
  await settled();
  await put(store, 'hello');
  time.advance(60_000);
  fake.reachable = false;
  fake.last.break(Object.assign(new Error(), { code: 'ECONNRESET' }));
  await settled();
  const attempts: number[] = [];
  for (let ms = 0; ms < 40_000; ms += 100) {
    const before = fake.attempts;
    time.advance(100);
    await settled();
    if (fake.attempts > before) attempts.push(ms + 100);
  }
  assert.deepEqual(attempts, [100, 300, 700, 1500, 3100, 6300, 12_700, 22_700, 32_700]);
  assert.deepEqual(notices, ['there', 'lost ECONNRESET']);
  fake.reachable = true;
  time.advance(10_000);
  await settled();
  assert.deepEqual(notices, ['there', 'lost ECONNRESET', 'there']);
  assert.equal(await textAt(store), 'hello');
});

test('a store that comes and goes is not hurried after', async () => {
  const { fake, time } = openStore();
  await settled();
  for (let ms = 0; ms < 30_000; ms += 100) {
    fake.last.break(undefined);
    await settled();
    time.advance(100);
    await settled();
  }
  assert.ok(fake.attempts < 12, `${fake.attempts} attempts in 30 s`);
});

test('a value that is broken, foreign or of another generation is a miss, and is replaced', async () => {
  for (const value of [
    'junk',
    '',
    packSound(soundOf('old'), 'g0'),
    packSound(soundOf('x'), '').subarray(0, 30),
  ]) {
    const { store, fake } = openStore();
    await settled();
    fake.values.set(KEY, Buffer.from(value));
    await put(store, 'new');
    assert.equal(await textAt(store), 'new');
    fake.values.set(GENERATION, Buffer.alloc(1000));
    assert.deepEqual(await store.look('a'), {}, 'a generation that nobody wrote');
  }
});

test('clearing makes every server forget, also what was being made', async () => {
  const fake = new FakeStore();
  const first = openStore(fake);
  const second = openStore(fake);
  await settled();
  await put(first.store, 'old');
  const { leave } = await second.store.look('b');
  first.store.clear();
  assert.deepEqual(await first.store.look('a'), {}, 'at once here');
  await settled();
  assert.equal(await textAt(second.store), undefined);
  leave?.(soundOf('made before'));
  await settled();
  assert.equal(await textAt(second.store, 'b'), undefined);
  await put(second.store, 'new');
  assert.equal(await textAt(first.store), 'new');
  assert.equal(fake.ttls.get(GENERATION), undefined);
});

test('clearing while the store is away is made good when it is back, and trusted only then', async () => {
  const { store, fake, time } = openStore();
  await settled();
  await put(store, 'old');
  fake.last.break(undefined);
  await settled();
  store.clear();
  fake.silent = true;
  time.advance(100);
  await settled();
  assert.deepEqual([fake.connections.length, await store.look('a')], [2, {}]);
  fake.last.break(undefined);
  fake.silent = false;
  await settled();
  time.advance(1000);
  await settled();
  assert.equal(fake.connections.length, 3);
  assert.equal(await textAt(store), undefined);
  await put(store, 'new');
});

test('what is too large is not written, and no more waits to be written than is allowed', async () => {
  const { store, fake } = openStore();
  await settled();
  const large = (mebibytes: number) => ({ ...soundOf(''), bytes: new Uint8Array(mebibytes * 1024 * 1024) });
  const looked = await Promise.all(Array.from({ length: 12 }, (_, n) => store.look(`k${n}`)));
  looked[0]?.leave?.(large(2.1));
  assert.equal(fake.last.sets, 0);
  fake.silent = true;
  for (const { leave } of looked) leave?.(large(2));
  assert.equal(fake.last.sets, 8);
  fake.last.break(undefined);
  await settled();
});

test('a write that is not answered gives the connection up; one that is refused is reported once', async () => {
  const { store, fake, time, notices } = openStore();
  await settled();
  const looked = await Promise.all(['a', 'b', 'c', 'd'].map((key) => store.look(key)));
  fake.refusal = new Error('OOM command not allowed');
  for (const { leave } of looked.slice(0, 2)) leave?.(soundOf('x'));
  await settled();
  assert.deepEqual(notices, ['there', 'refused']);
  fake.refusal = undefined;
  looked[2]?.leave?.(soundOf('x'));
  await settled();
  fake.silent = true;
  looked[3]?.leave?.(soundOf('x'));
  time.advance(5000);
  await settled();
  assert.deepEqual(notices, ['there', 'refused', 'lost TIMEOUT']);
});

test('so many looks wait at once, and no more', async () => {
  const { store, fake } = openStore();
  await settled();
  fake.silent = true;
  for (let n = 0; n < 300; n++) void store.look('a');
  assert.equal(fake.last.waiting, 256);
  fake.last.break(undefined);
  await settled();
});

test('a closed store has no connection, no timer, and says nothing more', async () => {
  for (const state of ['connecting', 'connected', 'waiting'] as const) {
    const fake = new FakeStore();
    fake.hanging = state === 'connecting';
    fake.reachable = state !== 'waiting';
    const { store, time, notices } = openStore(fake);
    await settled();
    const before = [...notices];
    await store.close();
    await store.close();
    assert.equal(time.waiting, 0, state);
    assert.ok(fake.connections.every(({ closed }) => closed));
    assert.deepEqual([await store.look('a'), notices], [{}, before]);
    store.clear();
  }
});

const SENTENCE = {
  text: 'Grüß Gott.',
  startMs: 0,
  endMs: 812.5,
  words: [{ word: 'Grüß', textOffset: 0, startMs: 12 }],
};
const SOUND: Sound = {
  contentType: 'audio/ogg; codecs=opus',
  bytes: Uint8Array.of(1, 2, 3, 250),
  outcome: {
    durationMs: 812.5,
    sentences: [SENTENCE],
    timing: { queueMs: 1, loadMs: 2, inferMs: 3, encodeMs: 4 },
  },
};

/** A value as this program would write it, were its head this. */
function withHead(head: unknown): Uint8Array {
  const json = Buffer.from(typeof head === 'string' ? head : JSON.stringify(head));
  const value = Buffer.concat([Buffer.from(packSound(SOUND, 'g')).subarray(0, 18), Buffer.from('g'), json]);
  value.writeUInt32LE(json.length, 6);
  value.writeUInt32LE(0, 10);
  value.writeUInt32LE(crc32(value.subarray(18)), 14);
  return value;
}

const HEAD = { contentType: 'audio/wav', durationMs: 1, sentences: [SENTENCE] };

test('a rendering reads back as it was written, but for what making it took', () => {
  for (const generation of ['', 'ab_-', 'x'.repeat(64)]) {
    const { sound, generation: read } = unpackSound(packSound(SOUND, generation)) ?? assert.fail('nothing');
    assert.equal(read, generation);
    assert.deepEqual(
      { ...sound, bytes: [...sound.bytes] },
      {
        ...SOUND,
        bytes: [1, 2, 3, 250],
        outcome: { ...SOUND.outcome, timing: NO_TIME },
      },
    );
  }
});

test('the header of a whole file is kept with it, and one that nobody wrote is nothing', () => {
  const outcome = { ...SOUND.outcome, header: { replaced: 44, bytes: Buffer.from('RIFF') } };
  assert.deepEqual(unpackSound(packSound({ ...SOUND, outcome }, 'g'))?.sound.outcome.header, outcome.header);
  assert.equal(unpackSound(packSound(SOUND, 'g'))?.sound.outcome.header, undefined);
  for (const header of [
    null,
    'RIFF',
    { replaced: -1, bytes: '' },
    { replaced: 1.5, bytes: '' },
    { replaced: 0 },
  ]) {
    assert.equal(unpackSound(withHead({ ...HEAD, header })), undefined);
  }
  assert.equal(
    unpackSound(withHead({ ...HEAD, header: { replaced: 0, bytes: 'A'.repeat(5000) } })),
    undefined,
  );
});

test('any sound does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.string({ maxLength: 16 }), (bytes, generation) => {
      const stored = unpackSound(packSound({ ...SOUND, bytes }, generation));
      assert.equal(stored?.generation, generation);
      assert.deepEqual([...(stored?.sound.bytes ?? [])], [...bytes]);
    }),
  );
});

test('a value that was changed, cut short or made longer is nothing', () => {
  const value = packSound(SOUND, 'g1');
  for (let at = 0; at < value.length; at++) {
    assert.equal(unpackSound(value.subarray(0, at)), undefined, `${at} bytes of it`);
    for (const bit of [1, 128]) {
      const changed = Buffer.from(value);
      changed[at] = (changed[at] ?? 0) ^ bit;
      assert.equal(unpackSound(changed), undefined, `byte ${at}`);
    }
  }
  assert.equal(unpackSound(Buffer.concat([value, Buffer.of(0)])), undefined);
});

test('what others wrote is nothing, whatever it is', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => unpackSound(bytes) === undefined));
  for (const text of ['', 'hello', 'PRLY', '{"contentType":"audio/wav"}']) {
    assert.equal(unpackSound(Buffer.from(text)), undefined);
  }
});

test('a head that is well written but says something else is nothing', () => {
  assert.ok(unpackSound(withHead(HEAD)) !== undefined);
  const others: unknown[] = [
    'no JSON',
    null,
    [],
    7,
    {},
    { ...HEAD, contentType: 'text/html' },
    { ...HEAD, contentType: 'audio/wav\r\nset-cookie: a=b' },
    { ...HEAD, contentType: 1 },
    { ...HEAD, durationMs: -1 },
    { ...HEAD, durationMs: null },
    { ...HEAD, sentences: {} },
    { ...HEAD, sentences: [null] },
    { ...HEAD, sentences: [{ ...SENTENCE, text: 1 }] },
    { ...HEAD, sentences: [{ ...SENTENCE, endMs: '1' }] },
    { ...HEAD, sentences: [{ ...SENTENCE, words: undefined }] },
    { ...HEAD, sentences: [{ ...SENTENCE, words: [{ word: 'a' }] }] },
  ];
  for (const head of others) assert.equal(unpackSound(withHead(head)), undefined, JSON.stringify(head));
});

test('every content type of the server reads back', () => {
  for (const contentType of [
    'audio/mpeg',
    'audio/opus',
    'audio/x-alaw-basic',
    'audio/L16; rate=24000; channels=1',
  ]) {
    assert.equal(unpackSound(packSound({ ...SOUND, contentType }, ''))?.sound.contentType, contentType);
  }
});

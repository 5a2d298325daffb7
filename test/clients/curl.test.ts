// curl, as the users of the older endpoints have it in their scripts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import type { Server } from '../../src/main.js';
import { KEY, speakingServer, TEXT } from './speaking-server.js';

const LIMIT_S = '20';

let server: Server;

before(async () => {
  server = await speakingServer();
});
after(() => server.close());

interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string | undefined>;
  readonly body: Buffer;
}

// Beside the body, so that nothing is mixed with it.
const WRITE_OUT = '%{stderr}{"status": %{http_code}, "headers": %{header_json}}';

/** A request as `curl -sN -d '<JSON>' <address>` makes it. */
async function curl(path: string, body: unknown): Promise<Answer> {
  const args = ['-sS', '-N', '--max-time', LIMIT_S, '-H', 'content-type: application/json', '-w', WRITE_OUT];
  const own = ['-H', `authorization: Bearer ${KEY}`, '-d', JSON.stringify(body), server.url + path];
  const child = spawn('curl', [...args, ...own], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const [sound, received] = await Promise.all([read(child.stdout), read(child.stderr)]);
  assert.equal(await ended, 0, received.toString());
  const { status, headers } = JSON.parse(received.toString()) as {
    status: number;
    headers: Record<string, string[]>;
  };
  return {
    status,
    headers: new Map(Object.entries(headers).map(([name, [value]]) => [name, value])),
    body: sound,
  };
}

async function read(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('the older addresses give the same samples: as they are, streamed, and in events', async () => {
  const asked = { input: TEXT, voice: 'slt' };
  const whole = await curl('/v1/audio/speech', { ...asked, response_format: 'pcm' });
  assert.ok(whole.body.length > 2 * 24_000);
  for (const path of ['/v1/audio/speech/pcm', '/v1/audio/speech/stream/pcm']) {
    for (const cache of [false, true]) {
      const { status, headers, body } = await curl(path, { ...asked, cache });
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'audio/pcm');
      assert.equal(headers.get('x-pcm-sample-rate'), '24000');
      assert.equal(headers.get('x-pcm-bit-depth'), '16');
      assert.equal(headers.get('x-pcm-channels'), '1');
      assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="speech\.pcm"$/);
      assert.equal(headers.get('x-cache'), cache ? 'hit' : undefined);
      assert.ok(body.equals(whole.body), `${path}, ${cache}`);
    }
  }
  for (const cache of [false, true]) {
    const { status, headers, body } = await curl('/v1/audio/speech/stream', { ...asked, cache });
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^text\/event-stream/);
    const events = body.toString().split('\n\n');
    assert.equal(events.pop(), '');
    assert.equal(events.pop(), 'data: [DONE]');
    assert.ok(events.length > 1);
    const pieces = events.map((event) => Buffer.from(/^data: ([\w+/=]+)$/.exec(event)?.[1] ?? '', 'base64'));
    // Readers turn each event into samples by itself.
    assert.ok(pieces.every(({ length }) => length > 0 && length % 2 === 0));
    assert.ok(Buffer.concat(pieces).equals(whole.body));
  }
});

test('the speed of the voice and the rate of the samples are heeded', async () => {
  const asked = { input: TEXT, voice: 'slt' };
  const usual = await curl('/v1/audio/speech/pcm', asked);
  const fast = await curl('/v1/audio/speech/pcm', { ...asked, speed: 2 });
  assert.ok(Math.abs(usual.body.length / fast.body.length - 2) < 0.1);
  const narrow = await curl('/v1/audio/speech/stream/pcm', { ...asked, sample_rate: 8000 });
  assert.equal(narrow.headers.get('x-pcm-sample-rate'), '8000');
  assert.ok(Math.abs(usual.body.length / narrow.body.length - 3) < 0.01);
});

test('a batch is sound in base64, each in its place', async () => {
  const items = [
    { input: 'One.' },
    { input: 'Two.', voice: 'nobody' },
    { input: 'Three.', response_format: 'pcm' },
  ];
  const { status, headers, body } = await curl('/v1/audio/speech/batch', { voice: 'slt', items });
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^application\/json/);
  const batch = JSON.parse(body.toString()) as {
    results: { status: string; media_type: string | null; audio_data: string | null }[];
  };
  assert.deepEqual(
    batch.results.map(({ status: how, media_type: type }) => [how, type]),
    [
      ['success', 'audio/wav'],
      ['error', null],
      ['success', 'audio/pcm'],
    ],
  );
  // There whole, a WAV knows its length.
  const alone = await curl('/v1/audio/speech', {
    input: 'One.',
    voice: 'slt',
    response_format: 'wav',
    stream: false,
  });
  assert.equal(batch.results[0]?.audio_data, alone.body.toString('base64'));
  assert.equal(alone.body.readUInt32LE(40), alone.body.length - 44);
});

test('a refusal is readable where the sound would have been', async () => {
  for (const path of ['/v1/audio/speech/pcm', '/v1/audio/speech/stream/pcm', '/v1/audio/speech/stream']) {
    const { status, body } = await curl(path, { input: '' });
    assert.equal(status, 400, path);
    assert.equal((JSON.parse(body.toString()) as { error: { param: string } }).error.param, 'input');
  }
});

test('the cache is emptied, and says of how much', async () => {
  await curl('/v1/audio/speech/pcm', { input: 'Something to keep.' });
  const kept = await curl('/cache/clear', {});
  assert.ok((JSON.parse(kept.body.toString()) as { cleared: number }).cleared > 0);
  const empty = await curl('/cache/clear', {});
  assert.deepEqual(JSON.parse(empty.body.toString()), { cleared: 0 });
});

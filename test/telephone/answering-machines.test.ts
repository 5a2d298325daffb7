// Whole calls whose far ends, SIPp with sound of its own, are a voicemail behind early media and a person.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import { Sipp } from '../interop/telephone/sipp.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';

let server: TelephoneServer;
const records: Record<string, unknown>[] = [];
const target = createServer((request, reply) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    records.push((JSON.parse(Buffer.concat(chunks).toString()) as { call: Record<string, unknown> }).call);
    reply.end();
  });
});

before(async () => {
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  server = await TelephoneServer.start({
    CALL_WEBHOOK_URL: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`,
    CALL_WEBHOOK_SECRET: 'only-the-two-of-us-know-it',
  });
});
after(async () => {
  await server.close();
  target.close();
});

const tone = (ms: number, ...hz: readonly number[]) =>
  Float32Array.from({ length: 8 * ms }, (_, n) =>
    hz.reduce((sum, each) => sum + 0.1 * Math.sin((2 * Math.PI * each * n) / 8000), 0),
  );
const silence = (ms: number) => new Float32Array(8 * ms);

/** A call whose far end sends early media; the sound behind it begins once the call is answered. */
async function dial(t: TestContext) {
  const rtp = await kept(t, RtpPeer.open());
  const keys = { rtp_port: rtp.port };
  const sipp = await kept(t, Sipp.answer('answer-early-media', { keys, holdMs: 1500 }));
  const response = await fetch(`${server.server.url}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: `sip:anna@127.0.0.1:${sipp.address.port}`, detect: {} }),
  });
  assert.equal(response.status, 201);
  const { id } = (await response.json()) as { id: string };
  await until(() => server.telephone.get(id).state === 'ringing');
  const port = Number(/m=audio (\d+)/.exec(sipp.messages())?.[1]);
  const stream = rtp.stream({ host: '127.0.0.1', port });
  void stream.play(tone(1000, 440, 480));
  await until(() => server.telephone.get(id).state === 'connected');
  const hangUp = async () => {
    await fetch(`${server.server.url}/v1/calls/${id}`, { method: 'DELETE' });
    await sipp.succeeded();
    const events = await (await fetch(`${server.server.url}/v1/calls/${id}/events`)).text();
    return [...events.matchAll(/^data: (.*)$/gm)]
      .map(([, data]) => JSON.parse(data ?? '') as Record<string, unknown>)
      .filter(({ type }) => type === 'answer.detected');
  };
  const answer = async () => {
    const view = await fetch(`${server.server.url}/v1/calls/${id}`);
    return ((await view.json()) as { answer?: Record<string, unknown> }).answer;
  };
  return { id, stream, answer, hangUp };
}

test('a voicemail behind early media is a machine, and its beep is told when it has ended', async (t) => {
  const { samples } = await server.rendered(
    'Hello, this is the voicemail of Anna Smith. I am not at home. Please leave a message after the tone.',
  );
  const { id, stream, answer, hangUp } = await dial(t);
  await stream.play(silence(400));
  await stream.play(samples);
  await stream.play(silence(500));
  const greetedMs = performance.now();
  await stream.play(tone(400, 1000));
  const endedMs = performance.now();
  await until(() => server.telephone.get(id).answer?.by === 'machine_beep');
  assert.ok(performance.now() - endedMs < 1000 && endedMs - greetedMs > 300);
  assert.equal((await answer())?.['by'], 'machine_beep');
  const told = await hangUp();
  assert.deepEqual(
    told.map(({ by, basis, tone: heard }) => [by, basis, heard]),
    [
      ['machine', 'speech', undefined],
      ['machine_beep', 'tone', 'beep'],
    ],
  );
  await until(() => records.some((record) => record['id'] === id));
  const recorded = records.find((record) => record['id'] === id)?.['answer'] as Record<string, unknown>;
  assert.deepEqual([recorded['by'], recorded['ms']], ['machine_beep', told[1]?.['ms']]);
});

test('a person who says a word and waits is a person', async (t) => {
  const { samples } = await server.rendered('Hello?');
  const { id, stream, hangUp } = await dial(t);
  await stream.play(silence(600));
  await stream.play(samples);
  await until(() => server.telephone.get(id).answer !== undefined);
  const [told, ...more] = await hangUp();
  assert.deepEqual([told?.['by'], told?.['basis'], more], ['human', 'speech', []]);
  const lengthMs = samples.length / 8;
  assert.ok(Number(told?.['ms']) > 1200 && Number(told?.['ms']) < 3200 + lengthMs, JSON.stringify(told));
});

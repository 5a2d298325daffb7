// Applications that drive calls with SIPp over HTTP, as the guide describes it: what
// is asked for by a route is what the telephone hears and is sent.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { until } from '../../fakes/until.js';
import { assertHeldByServer, continuity, g711Sound, heardDigits } from './rtp-record.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { likeness, type Sound, voiced, wavBytes } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const HELD_MS = 600;
const RATE = 16_000;
const LEVELS = [0.4, 0.1, 0.6, 0, 0.3, 0.5, 0.2, 0.5];
/** A melody of one tone: 150 ms of each loudness. */
const JINGLE: Sound = {
  rate: RATE,
  samples: Float32Array.from(
    { length: LEVELS.length * 0.15 * RATE },
    (_, n) => (LEVELS[Math.floor(n / (0.15 * RATE))] ?? 0) * Math.sin((2 * Math.PI * 500 * n) / RATE),
  ),
};

let server: TelephoneServer;

before(async () => {
  server = await TelephoneServer.start();
});
after(() => server.close());

type Json = Readonly<Record<string, unknown>>;

async function asked(
  method: string,
  path: string,
  body?: Json | Buffer,
): Promise<{ readonly status: number; readonly json: Json }> {
  const type = body instanceof Buffer ? 'audio/wav' : 'application/json';
  const sent =
    body === undefined
      ? {}
      : {
          headers: { 'content-type': type },
          body: body instanceof Buffer ? new Uint8Array(body) : JSON.stringify(body),
        };
  const response = await fetch(`${server.server.url}/v1/calls${path}`, { method, ...sent });
  return { status: response.status, json: (await response.json()) as Json };
}

/** A call over HTTP to SIPp, connected. */
async function called(t: TestContext, scenario: string, more: Json = {}) {
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(t, Sipp.answer(scenario, { keys: { rtp_port: rtp.port }, limitS: 15 }));
  const placed = await asked('POST', '', { to: `sip:bob@127.0.0.1:${sipp.address.port}`, ...more });
  assert.deepEqual([placed.status, placed.json['state']], [201, 'dialling']);
  const id = String(placed.json['id']);
  let state: unknown;
  while (state !== 'connected') state = (await asked('GET', `/${id}`)).json['state'];
  const post = (name: string, body?: Json | Buffer) => asked('POST', `/${id}/${name}`, body);
  return { id, sipp, rtp, post };
}

test('POST …/play: the file is heard, as often as it is to be', async (t) => {
  const { id, sipp, rtp, post } = await called(t, 'answer-basic');
  const whole = await post('play', wavBytes(JINGLE));
  assert.deepEqual([whole.status, whole.json['object'], whole.json['call']], [202, 'call.utterance', id]);
  const seconds = JINGLE.samples.length / RATE;
  const heard = (): Sound => ({ samples: g711Sound(rtp.heard), rate: 8000 });
  const heardS = (): number => voiced(heard().samples, 8000).length / 8000;
  await until(() => heardS() > seconds - 0.03);
  await setTimeout(200); // so that excess sound would be heard, too
  const { correlation, longerMs } = likeness(heard(), JINGLE);
  assert.ok(correlation > 0.93 && Math.abs(longerMs) <= 60, JSON.stringify({ correlation, longerMs }));
  rtp.heard.length = 0;
  assert.equal((await post('play', { audio: wavBytes(JINGLE).toString('base64'), times: 2 })).status, 202);
  await until(() => heardS() > 2 * seconds - 0.03);
  await setTimeout(200);
  const twice = { rate: RATE, samples: Float32Array.from([...JINGLE.samples, ...JINGLE.samples]) };
  const again = likeness(heard(), twice);
  assert.ok(again.correlation > 0.93 && Math.abs(again.longerMs) <= 100, JSON.stringify(again));
  const { status, json } = await asked('DELETE', `/${id}`);
  assert.deepEqual([status, json['state'], json['end']], [200, 'ended', { reason: 'we hung up' }]);
  await sipp.succeeded();
});

test('POST …/dtmf: the digits are heard in RTP, and as INFO where that is asked for', async (t) => {
  const { id, sipp, rtp, post } = await called(t, 'answer-basic');
  const { status, json } = await post('dtmf', { digits: '42#', duration_ms: 80, pause_ms: 60 });
  assert.deepEqual([status, json['object'], json['digits']], [200, 'call.dtmf', '42#']);
  await until(() => heardDigits(rtp.heard).filter(({ ends }) => ends === 3).length === 3);
  assert.deepEqual(
    heardDigits(rtp.heard).map(({ digit, durationMs }) => [digit, durationMs]),
    [
      ['4', 80],
      ['2', 80],
      ['#', 80],
    ],
  );
  await asked('DELETE', `/${id}`);
  await sipp.succeeded();
  const other = await called(t, 'answer-takes-info');
  assert.equal((await other.post('dtmf', { digits: '7', by: 'info' })).status, 200);
  await asked('DELETE', `/${other.id}`);
  await other.sipp.succeeded();
  assert.match(other.sipp.messages(), /Signal ?= ?7/);
});

test('POST …/hold and …/resume: the text stands still, and goes on', async (t) => {
  const { id, sipp, rtp, post } = await called(t, 'answer-is-held', { say: { text: GREETING } });
  await until(() => rtp.heard.length > 40);
  const held = await post('hold');
  const fromMs = performance.now();
  assert.deepEqual([held.status, held.json['state']], [200, 'held']);
  await setTimeout(HELD_MS);
  const toMs = performance.now();
  const resumed = await post('resume');
  assert.deepEqual([resumed.status, resumed.json['state']], [200, 'connected']);
  await until(() => (rtp.heard.at(-1)?.atMs ?? 0) > toMs + 1500);
  await asked('DELETE', `/${id}`);
  await sipp.succeeded();
  assertHeldByServer(rtp.heard, await server.rendered(GREETING), fromMs, toMs);
});

test('POST …/transfer: whom it was called for is sent elsewhere, and the call is over', async (t) => {
  const { id, sipp, post } = await called(t, 'answer-is-transferred');
  const { status, json } = await post('transfer', { to: 'sip:dave@127.0.0.1' });
  assert.deepEqual([status, json], [200, { object: 'call.transfer', call: id, accepted: true, status: 200 }]);
  await sipp.succeeded();
  assert.match(sipp.messages(), /Refer-To: <sip:dave@127\.0\.0\.1>/);
  const { json: call } = await asked('GET', `/${id}`);
  assert.deepEqual([call['state'], (call['end'] as Json)['reason']], ['ended', 'transferred']);
  assert.equal((await post('dtmf', { digits: '1' })).status, 409);
});

test('POST …/say and …/interrupt: the text is heard up to where it is broken off, which is told', async (t) => {
  const { id, sipp, rtp, post } = await called(t, 'answer-basic');
  const said = await post('say', { text: GREETING });
  assert.deepEqual([said.status, said.json['utterance']], [202, 1]);
  const speech = await server.rendered(GREETING);
  await until(() => g711Sound(rtp.heard).some((sample) => Math.abs(sample) > 0.05));
  await setTimeout(700);
  const { status, json } = await post('interrupt');
  const [broken] = json['utterances'] as readonly { readonly sent_ms: number }[];
  assert.equal(status, 200);
  assert.ok(
    GREETING.startsWith(String(json['text'])) && String(json['text']).length < GREETING.length,
    String(json['text']),
  );
  await setTimeout(300);
  const heard = { samples: g711Sound(rtp.heard), rate: 8000 };
  const { longerMs } = likeness(heard, {
    rate: 8000,
    samples: speech.samples.subarray(0, (broken?.sent_ms ?? 0) * 8),
  });
  assert.ok(Math.abs(longerMs) <= 80, `${longerMs} ms more was heard than was told`);
  assert.equal(continuity(rtp.heard).lost, 0);
  await asked('DELETE', `/${id}`);
  await sipp.succeeded();
});

// Whole calls that are handed over or supervised over HTTP: real callers over SIP and RTP on loopback, and
// the media plane, the voice and the detection of answers that users have.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { heardBy, waveLikeness } from './heard-calls.js';
import { ask as askOf, type Caller, callTo, Desk } from './joined-callers.js';
import { hangUp } from './raw-caller.js';

const SUMMARY = 'Ms Novak asks for a refund of order seven.';
const LOUD = 0.02; // of full scale
const FRAME = 160; // samples

let server: TelephoneServer;
let speech: Float32Array;
let summary: Float32Array;
/** What our voice says in a call. */
let notice: Float32Array;

before(async () => {
  server = await TelephoneServer.start({ SIP_DIRECT_CALLS: '1' }, { routes: [{ wait: {} }] });
  speech = (await server.rendered('Good morning, this is the first floor.')).samples;
  summary = (await server.rendered(SUMMARY)).samples;
  notice = (await server.rendered('Your order has shipped today.')).samples;
});
after(() => server.close());

const calls = (t: TestContext, law?: 'mu' | 'a') => callTo(server, t, { law });
const ask = (method: string, path: string, body?: object) => askOf(server, method, path, body);

type Listener = Pick<Caller, 'rtp' | 'law'>;

/** What the listeners hear while the sound is played, and shortly after. */
async function during(
  play: () => Promise<unknown>,
  samples: number,
  listeners: readonly Listener[],
): Promise<readonly Float32Array[]> {
  const from = listeners.map(({ rtp }) => rtp.heard.length);
  const frames = Math.ceil(samples / FRAME) + 20;
  await play();
  await until(() => listeners.every(({ rtp }, n) => rtp.heard.length >= (from[n] ?? 0) + frames));
  return listeners.map((listener, n) => heardBy(listener, from[n]));
}

const says = (caller: Pick<Caller, 'stream'>, listeners: readonly Listener[]) =>
  during(() => caller.stream.play(speech), speech.length, listeners);

const isSilent = (heard: Float32Array | undefined) =>
  heard?.every((sample) => Math.abs(sample) < LOUD) === true;

/** Types of the events of a call so far, with their reasons. */
async function eventsOf(id: string): Promise<readonly string[]> {
  const events: string[] = [];
  server.telephone.follow(id, 0, (event) => {
    if (event.type !== 'speech') return;
    const { event: told } = event;
    events.push('reason' in told ? `${told.type} ${told.reason}` : told.type);
  })();
  return events.filter((event) => event.startsWith('warm_transfer.'));
}

async function supervisedBy(supervised: Caller, supervisor: Caller, mode: string): Promise<void> {
  const made = await ask('POST', `/calls/${supervised.id}/supervise`, { call: supervisor.id, mode });
  assert.deepEqual([made.status, made.json['mode']], [201, mode]);
}

test('a supervisor hears the caller and our voice, and the caller does not hear the supervisor', async (t) => {
  const [a, s] = [await calls(t), await calls(t, 'a')];
  await supervisedBy(a, s, 'listen');
  const [ofCaller = new Float32Array()] = await says(a, [s]);
  const speaks = () => ask('POST', `/calls/${a.id}/say`, { text: 'Your order has shipped today.' });
  const [ofVoice = new Float32Array()] = await during(speaks, notice.length, [s]);
  const [atCaller] = await says(s, [a]);
  assert.equal((await ask('DELETE', `/calls/${a.id}/supervise`)).status, 204);
  const [after] = await says(a, [s]);
  await hangUp(a.signalling, a.dialog);
  await hangUp(s.signalling, s.dialog);
  assert.ok(isSilent(atCaller) && isSilent(after));
  const likenesses = [waveLikeness(speech, ofCaller), waveLikeness(notice, ofVoice)];
  assert.ok(Math.min(...likenesses) > 0.9, likenesses.join(' '));
});

test('in a bridge a whisper reaches one side, a barge both, and a take-over mutes the one', async (t) => {
  const [a, b, s] = [await calls(t), await calls(t), await calls(t)];
  assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { call: b.id })).status, 201);
  await supervisedBy(b, s, 'listen');
  const [listened = new Float32Array()] = await says(a, [s]);
  await supervisedBy(b, s, 'whisper');
  const [notA, whispered = new Float32Array()] = await says(s, [a, b]);
  await supervisedBy(b, s, 'barge');
  const barged = await says(s, [a, b]);
  await supervisedBy(b, s, 'take_over');
  const [mutedA, onlyS = new Float32Array()] = await says(b, [a, s]);
  const [takenOver = new Float32Array()] = await says(s, [a]);
  await ask('DELETE', `/calls/${b.id}/supervise`);
  const [backA = new Float32Array(), gone] = await says(b, [a, s]);
  for (const { signalling, dialog } of [a, b, s]) await hangUp(signalling, dialog);
  assert.deepEqual([isSilent(notA), isSilent(mutedA), isSilent(gone)], [true, true, true]);
  const heard = [listened, whispered, ...barged, onlyS, takenOver, backA];
  const likenesses = heard.map((one) => waveLikeness(speech, one));
  assert.ok(Math.min(...likenesses) > 0.9, likenesses.join(' '));
});

test('a caller hears music, the person the summary, and then both each other', async (t) => {
  const [a, desk] = [await calls(t), await Desk.open(server, t)];
  const from = a.rtp.heard.length;
  const made = await ask('POST', `/calls/${a.id}/warm_transfer`, { to: desk.uri, summary: SUMMARY });
  assert.deepEqual([made.status, made.json['state']], [201, 'ringing']);
  await until(() => a.rtp.heard.length > from + 50);
  assert.ok(!isSilent(heardBy(a, from)), 'music');
  const person = await desk.picksUp();
  const answered = desk.rtp.heard.length;
  await person.play(speech.subarray(0, speech.length / 2));
  await until(async () => (await eventsOf(a.id)).includes('warm_transfer.connected'));
  const told = heardBy(desk, answered);
  const [atDesk = new Float32Array()] = await says(a, [desk]);
  const [atCaller = new Float32Array()] = await says({ stream: person }, [a]);
  assert.deepEqual(await eventsOf(a.id), [
    'warm_transfer.started',
    'warm_transfer.answered',
    'warm_transfer.connected',
  ]);
  await hangUp(a.signalling, a.dialog);
  await desk.answers('BYE', 200);
  assert.ok(waveLikeness(summary, told) > 0.95, 'the summary');
  const likenesses = [atDesk, atCaller].map((one) => waveLikeness(speech, one));
  assert.ok(Math.min(...likenesses) > 0.95, likenesses.join(' '));
});

test('a caller whom nobody takes is back where it was', async (t) => {
  const a = await calls(t);
  const transfer = async (desk: Desk) => {
    const made = await ask('POST', `/calls/${a.id}/warm_transfer`, { to: desk.uri, summary: SUMMARY });
    assert.equal(made.status, 201);
  };
  const lastOf = async (count: number) => {
    await until(async () => (await eventsOf(a.id)).filter((one) => one.includes('failed')).length === count);
    return (await eventsOf(a.id)).at(-1);
  };
  const busy = await Desk.open(server, t);
  await transfer(busy);
  await busy.answers('INVITE', 486);
  assert.equal(await lastOf(1), 'warm_transfer.failed busy');
  const machine = await Desk.open(server, t);
  await transfer(machine);
  const greeting = await machine.picksUp();
  const answered = machine.rtp.heard.length;
  const long = await server.rendered(
    'You have reached the Miller family. We cannot come to the phone right now, so please leave a message.',
  );
  await greeting.play(long.samples);
  await machine.answers('BYE', 200);
  assert.equal(await lastOf(2), 'warm_transfer.failed voicemail');
  assert.ok(isSilent(heardBy(machine, answered)), 'a machine hears no summary');
  const speaks = () => ask('POST', `/calls/${a.id}/say`, { text: 'Your order has shipped today.' });
  const [heard = new Float32Array()] = await during(speaks, notice.length, [a]);
  await hangUp(a.signalling, a.dialog);
  assert.ok(waveLikeness(notice, heard) > 0.95, 'our voice, and no music');
});

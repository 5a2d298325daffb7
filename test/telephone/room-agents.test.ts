// An agent as a member of a room, on the media plane that users have: it hears the room without itself, its
// voice is heard by all, and callers interrupt it.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { until } from '../fakes/until.js';
import { Transcripts } from '../interop/telephone/agent-call.js';
import { freePorts } from '../fakes/free-port.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import type { CallEvent } from '../../src/call/call-events.js';
import { type AnyCaller, ask as askServer, callOf, type CallerKind } from './far-ends.js';

const AGENT = 'default';
const GREETING = 'Good morning, all of you.';
const QUESTION = 'Excuse me, can I ask you something?';
const STORY =
  'There was a miller whose only inheritance to his three sons was his mill, his ass, and his cat. ' +
  'The division was soon made, and they had neither clerk nor attorney.';
const FRAME_MS = 20;
const QUIET = 25; // frames
const LOUD = 0.03; // amplitude
const LEAST_HEARD = 10; // loud frames of a sentence

async function open(t: TestContext) {
  const [chat, recogniser] = [await ChatEndpoint.open(t), await TranscriptionServerUnderTest.open(t)];
  const transcripts = new Transcripts(recogniser, t);
  const audioSocketPort = await freePorts();
  const server = await TelephoneServer.start(
    {
      AGENT_LLM_URL: chat.baseUrl,
      AGENT_LLM_MODEL: 'small',
      AGENT_GREETING: GREETING,
      ASR_BASE_URL: recogniser.baseUrl,
      ASR_MODEL: 'whisper-1',
      AUDIOSOCKET_PORT: `${audioSocketPort}`,
      AUDIOSOCKET_AGENT: 'none',
    },
    { routes: [{ wait: {} }] },
  );
  t.after(() => server.close());
  const ask = (method: string, path: string, body?: object) => askServer(server, method, path, body);
  const call = (kind: CallerKind) => callOf(t, kind, { server, audioSocketPort });
  const join = (body: object) => ask('POST', '/rooms/team/members', { sounds: false, ...body });
  const question = (await server.rendered(QUESTION, { voice: 'rms' })).samples;
  return { chat, recogniser, transcripts, server, ask, call, join, question };
}

/** Looks 50 times a second: the far ends are paced on this thread. */
const looked = (condition: () => boolean) =>
  until(async () => {
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    return condition();
  });

function loudFrames(caller: AnyCaller, from: number): number {
  const sound = caller.heard(from);
  let count = 0;
  for (let at = 0; at < sound.length; at += 160)
    if (sound.subarray(at, at + 160).some((sample) => Math.abs(sample) > LOUD)) count++;
  return count;
}

const isQuiet = (caller: AnyCaller) =>
  caller.frames >= QUIET && loudFrames(caller, caller.frames - QUIET) === 0;

interface Member {
  readonly call: string;
  readonly agent?: string;
}

test('an agent greets a room, hears and answers its callers, is interrupted, and leaves with them', async (t) => {
  const { chat, transcripts, server, ask, call, join, question } = await open(t);
  const [a, b] = [await call('sip'), await call('audiosocket')];
  assert.equal((await join({ call: a.id, music: 'none' })).status, 201);
  assert.equal((await join({ call: b.id })).status, 201);
  const joined = await join({ agent: AGENT });
  assert.equal(joined.status, 201);
  const [, , member] = joined.json['members'] as Member[];
  assert.equal(member?.agent, AGENT);
  const agentCall = server.server.switchboard.get(member?.call ?? '');
  assert.ok(agentCall !== undefined);
  const events: CallEvent[] = [];
  agentCall.observe((event) => void events.push(event));
  const count = (type: CallEvent['type']) => events.filter((event) => event.type === type).length;
  await looked(() => [a, b].every((one) => loudFrames(one, 0) > LEAST_HEARD && isQuiet(one)));

  transcripts.next = QUESTION;
  const heardBefore = b.frames;
  await a.says(question);
  const prompt = await chat.asked(0);
  assert.deepEqual(prompt.question.messages.slice(-2), [
    { role: 'assistant', content: GREETING },
    { role: 'user', content: QUESTION },
  ]);
  assert.ok(loudFrames(b, heardBefore) > LEAST_HEARD, 'the other caller hears the question, too');
  await looked(() => [a, b].every(isQuiet));
  const from = [a.frames, b.frames] as const;
  prompt.say(STORY).done();
  await looked(() => [a, b].every((one, n) => loudFrames(one, from[n] ?? 0) > LEAST_HEARD));

  transcripts.next = 'Stop, please.';
  await b.says(question);
  const stopped = await chat.asked(1);
  assert.equal(count('utterance.interrupted'), 1);
  assert.deepEqual(stopped.question.messages.at(-1), { role: 'user', content: 'Stop, please.' });
  stopped.say('As you wish.').done();
  await looked(() => events.filter(({ type }) => type === 'utterance.spoken').length >= 2);
  // Counted when the answer was spoken: an early answer is asked for before its turn has ended.
  assert.equal(count('turn.ended'), 2, 'its own voice is no turn');

  const listed = (await ask('GET', '/calls')).json['data'] as { id: string; protocol?: string }[];
  assert.equal(listed.find(({ id }) => id === agentCall.id)?.protocol, 'room');
  assert.equal((await ask('DELETE', `/rooms/team/members/${a.id}`)).status, 204);
  assert.ok(!agentCall.isClosing(), 'a caller is left');
  assert.equal((await ask('DELETE', `/rooms/team/members/${b.id}`)).status, 204);
  assert.equal(await agentCall.closed, 'left the room');
  assert.equal((await ask('GET', '/rooms/team')).status, 404);
});

test('an agent that hangs up leaves the room to its callers; one that coaches is heard by one', async (t) => {
  const { chat, transcripts, server, ask, call, join, question } = await open(t);
  const [a, b] = [await call('sip'), await call('websocket')];
  assert.equal((await join({ call: a.id, music: 'none' })).status, 201);
  assert.equal((await join({ call: b.id })).status, 201);
  const joined = await join({ agent: AGENT, coach: a.id });
  const [, , member] = joined.json['members'] as Member[];
  const agentCall = server.server.switchboard.get(member?.call ?? '');
  const from = b.frames;
  await looked(() => loudFrames(a, 0) > LEAST_HEARD && isQuiet(a));
  assert.equal(loudFrames(b, from), 0, 'the coach speaks to the other one');
  transcripts.next = 'Please leave us.';
  await b.says(question);
  (await chat.asked(0)).say('Goodbye.').call('hang_up', {}).done();
  assert.equal(await agentCall?.closed, 'agent hung up');
  const { json } = await ask('GET', '/rooms/team');
  assert.deepEqual(
    (json['members'] as Member[]).map((one) => one.call),
    [a.id, b.id],
  );
});

test('an agent needs a room that is there and a name that is known, and is a member or a call is', async (t) => {
  const { server, ask, call, join } = await open(t);
  const a = await call('audiosocket');
  assert.equal((await join({ agent: AGENT })).status, 404);
  assert.equal((await join({ call: a.id, music: 'none', max_members: 2 })).status, 201);
  for (const body of [
    {},
    { call: a.id, agent: AGENT },
    { agent: 'nobody' },
    { agent: AGENT, coach: 'rtc_1' },
  ]) {
    const { status, json } = await join(body);
    assert.deepEqual(
      [status, (json['error'] as { code: string }).code],
      [400, 'invalid_value'],
      JSON.stringify(body),
    );
  }
  assert.equal((await join({ agent: AGENT })).status, 201);
  const full = await join({ agent: AGENT });
  assert.deepEqual([full.status, (full.json['error'] as { code: string }).code], [409, 'room_full']);
  await until(() => server.server.switchboard.size === 2);
  await a.hangUp();
  await until(() => server.server.switchboard.size === 0);
  assert.equal((await ask('GET', '/rooms/team')).status, 404);
});

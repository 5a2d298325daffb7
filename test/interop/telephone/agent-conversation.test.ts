// Whole conversations by telephone with the built-in agent, judged by what reached the model and by the sound
// of both sides: the recording has both on one clock, and the packets of the agent must agree with it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Environment } from '../../../src/config/environment.js';
import { ParleyError } from '../../../src/errors.js';
import type { ChatMessage } from '../../../src/agents/chat-model.js';
import { readWav } from '../../../src/codecs/wav.js';
import { GOLDEN } from '../../engines/golden.js';
import { until } from '../../fakes/until.js';
import { cough } from '../../hearing/sounds.js';
import { half, openAgentCall, RATE, STORY } from './agent-call.js';
import { continuity, g711Sound } from './rtp-record.js';
import { likenessSoFar, loudness, type Sound } from './sound-shape.js';
import type { TelephoneServer } from './telephone-server.js';

const TARGET = 'sip:200@pbx.example.com';
const FOX = 'The quick brown fox jumps over the lazy dog.';

const WINDOW_MS = 20;
const QUIET = 0.01; // root mean square of a window without speech
const PAUSE_MS = 700; // longer than any pause within what one side says
/** From the caller's first sound to the agent's last. */
const BARGE_IN_MS = 600;
/** The longest silence of both sides after a turn of the caller: the end of the turn, the text, the voice. */
const DEAD_AIR_MS = 2500;
/** The longest silence of an agent that a cough does not interrupt: its pauses, and the look at the cough. */
const COUGH_PAUSE_MS = 1200;
/** From the answer of the call to the first sound of the greeting. */
const GREETING_MS = 1000;

/** A stretch of sound, in milliseconds of the recording. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

function stretchesOf({ samples, rate }: Sound, pauseMs = PAUSE_MS): Stretch[] {
  const found: Stretch[] = [];
  for (const [n, level] of loudness(samples, rate, WINDOW_MS).entries()) {
    if (level < QUIET) continue;
    const [fromMs, toMs] = [n * WINDOW_MS, (n + 1) * WINDOW_MS];
    const last = found.at(-1);
    if (last !== undefined && fromMs - last.toMs < pauseMs) found[found.length - 1] = { ...last, toMs };
    else found.push({ fromMs, toMs });
  }
  return found;
}

interface Recorded {
  readonly environment: Environment;
  readonly start: (server: TelephoneServer, id: string) => Promise<void>;
  /** The caller and the voice. */
  channels(): readonly [Sound, Sound];
}

/** The call is recorded in two channels. */
function recording(t: TestContext): Recorded {
  const folder = mkdtempSync(join(tmpdir(), 'parley-conversation-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'agents.json');
  const shop = { greeting: 'Good morning.', transfers: { person: TARGET } };
  writeFileSync(file, JSON.stringify({ agents: { shop }, default: 'shop' }));
  let name = '';
  return {
    environment: { AGENTS_FILE: file, RECORDINGS_DIR: folder },
    start: async ({ server }, id) => {
      const answer = await fetch(`${server.url}/v1/calls/${id}/recording`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'start' }),
      });
      if (!answer.ok) throw new ParleyError('WRONG_STATE', await answer.text());
      ({ name } = (await answer.json()) as { name: string });
    },
    channels: () => {
      const wav = readWav(readFileSync(join(folder, name)));
      const [caller, voice] = [new Float32Array(wav.frames), new Float32Array(wav.frames)];
      wav.read(0, 0, caller);
      wav.read(1, 0, voice);
      return [
        { samples: caller, rate: wav.rate },
        { samples: voice, rate: wav.rate },
      ];
    },
  };
}

type AgentCall = Awaited<ReturnType<typeof openAgentCall>>;

const ended = async ({ all }: AgentCall): Promise<string | undefined> => {
  await until(() => all.some((event) => event.type === 'state' && event.state === 'ended'));
  const end = all.at(-1);
  return end?.type === 'state' ? end.end?.reason : undefined;
};

const withoutPrompt = ({ messages }: { readonly messages: readonly ChatMessage[] }) => messages.slice(1);

test('greeting, cough, interruption, a transfer that fails, and a goodbye: words and sound', async (t) => {
  const recorded = recording(t);
  const call = await openAgentCall(t, {
    environment: recorded.environment,
    scenario: 'call-transfer-fails',
    onConnected: recorded.start,
  });
  const { chat, transcripts, rtp, events, count, say, question, sipp } = call;
  await until(() => count('utterance.spoken') === 1);

  transcripts.next = 'Tell me a story.';
  await say(question);
  (await chat.asked(0)).say(...STORY.split(/(?<= )/)).done();
  await until(() => count('utterance.started') === 2);
  await say(new Float32Array(RATE / 5)); // it is in the middle of the story
  transcripts.next = '';
  await say(half(cough(-25)));
  assert.equal(count('utterance.interrupted'), 0, 'a cough ends nothing');
  transcripts.next = 'Stop. A person, please.';
  await say(question);
  const second = await chat.asked(1);
  const cut = events.find((event) => event.type === 'utterance.interrupted');
  assert.ok(cut?.type === 'utterance.interrupted');
  assert.ok(STORY.startsWith(cut.heard) && cut.heard.length > 10, cut.heard);
  const history: ChatMessage[] = [
    { role: 'user', content: '[The call begins]' },
    { role: 'assistant', content: 'Good morning.' },
    { role: 'user', content: 'Tell me a story.' },
    { role: 'assistant', content: cut.heard.trim() },
    { role: 'user', content: 'Stop. A person, please.' },
  ];
  assert.deepEqual(withoutPrompt(second.question), history);

  second.say('I connect you.').call('transfer_call', { target: 'person' }).done();
  const third = await chat.asked(2);
  assert.match(sipp.messages(), /Refer-To: <sip:200@pbx\.example\.com>/);
  const [asked, told] = third.question.messages.slice(-2);
  assert.ok(asked?.role === 'assistant' && asked.content === 'I connect you.');
  assert.ok(told?.role === 'tool' && told.content === '{"error":"the target refused the call (486)"}');
  third.say('Nobody is there. What else?').done();
  await until(() => events.some((event) => event.type === 'utterance.spoken' && /else/.test(event.text)));

  transcripts.next = 'Nothing. Goodbye.';
  await say(question);
  const fourth = await chat.asked(3);
  assert.deepEqual(fourth.question.messages.slice(-2), [
    { role: 'assistant', content: 'Nobody is there. What else?' },
    { role: 'user', content: 'Nothing. Goodbye.' },
  ]);
  const before = rtp.heard.length;
  fourth.say('Goodbye, and thank you.').call('hang_up', {}).done();
  assert.equal(await ended(call), 'we hung up');
  await sipp.succeeded();
  assert.equal(chat.answers.length, 4);
  await assertHeard(call, rtp.heard.slice(before), 'Goodbye, and thank you.');
  assertSound(recorded.channels(), cut.durationMs, t);
  const { lost, disordered, sources } = continuity(rtp.heard);
  assert.deepEqual([lost, disordered, sources.length], [0, 0, 1]);
});

async function assertHeard(
  { server }: AgentCall,
  packets: Parameters<typeof g711Sound>[0],
  text: string,
): Promise<void> {
  const sound = { samples: g711Sound(packets), rate: RATE };
  const heard = likenessSoFar(sound, await server.rendered(text));
  assert.ok(heard.correlation > 0.9, `"${text}" was heard to its end: ${JSON.stringify(heard)}`);
}

/** Two-channel sound of the conversation above. */
function assertSound([caller, voice]: readonly [Sound, Sound], storyMs: number, t: TestContext): void {
  const said = stretchesOf(caller);
  assert.equal(said.length, 4, `question, cough, interruption and goodbye: ${JSON.stringify(said)}`);
  const [question, coughed, cutIn, goodbye] = said as [Stretch, Stretch, Stretch, Stretch];
  const spoken = stretchesOf(voice, WINDOW_MS);
  const nextOf = (ms: number) => (spoken.find(({ fromMs }) => fromMs >= ms)?.fromMs ?? Infinity) - ms;

  const [greeting = { fromMs: Infinity }] = spoken;
  assert.ok(greeting.fromMs < GREETING_MS, `the greeting begins after ${greeting.fromMs} ms`);
  const waits = [question, cutIn, goodbye].map(({ toMs }) => nextOf(toMs));
  t.diagnostic(`silence after turns: ${waits.join(', ')} ms`);
  assert.ok(
    waits.every((ms) => ms > 200 && ms < DEAD_AIR_MS),
    `silence of ${waits.join(', ')} ms after the turns`,
  );

  const last = spoken.findLast(({ fromMs }) => fromMs < cutIn.fromMs + BARGE_IN_MS);
  const overlapMs = (last?.toMs ?? -Infinity) - cutIn.fromMs;
  t.diagnostic(`the voice is silent ${overlapMs} ms after the caller began`);
  assert.ok(overlapMs > -COUGH_PAUSE_MS && overlapMs < BARGE_IN_MS, `silent after ${overlapMs} ms`);
  assert.ok(waits[1] !== undefined && waits[1] > 200, 'nothing of the old answer follows');

  const during = spoken.filter(({ fromMs, toMs }) => toMs > coughed.fromMs && fromMs < cutIn.fromMs);
  const ends = [coughed.fromMs, ...during.map(({ toMs }) => toMs)];
  const pauses = ends.map((endMs, n) => (during[n]?.fromMs ?? cutIn.fromMs) - endMs);
  t.diagnostic(`pauses of the voice from the cough on: ${pauses.join(', ')} ms`);
  assert.ok((during[0]?.fromMs ?? Infinity) < coughed.fromMs, 'the cough comes while the voice speaks');
  assert.ok(Math.max(...pauses) < COUGH_PAUSE_MS, `a cough silences the voice: ${pauses.join(', ')} ms`);

  const story = spoken.filter(({ fromMs }) => fromMs >= question.toMs && fromMs < cutIn.fromMs + BARGE_IN_MS);
  const soundMs = (story.at(-1)?.toMs ?? 0) - (story[0]?.fromMs ?? 0);
  assert.ok(soundMs >= storyMs - 500, `${storyMs} ms were told, ${soundMs} ms are recorded`);
}

test('a transfer that succeeds: the announcement is heard, then the call moves on', async (t) => {
  const recorded = recording(t);
  const call = await openAgentCall(t, {
    environment: recorded.environment,
    scenario: 'call-is-transferred',
  });
  const { chat, transcripts, rtp, count, say, question, sipp } = call;
  await until(() => count('utterance.spoken') === 1);
  transcripts.next = 'A person, please.';
  await say(question);
  const asked = await chat.asked(0);
  const before = rtp.heard.length;
  asked.say('I connect you with a person.').call('transfer_call', { target: 'person' }).done();
  assert.equal(await ended(call), 'transferred');
  await sipp.succeeded();
  assert.match(sipp.messages(), /Refer-To: <sip:200@pbx\.example\.com>/);
  await assertHeard(call, rtp.heard.slice(before), 'I connect you with a person.');
  assert.equal(chat.answers.length, 1);
});

test('the native recogniser: what a caller says over G.711 reaches the model as text', async (t) => {
  const call = await openAgentCall(t, {
    environment: {
      ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-b'),
      INFERENCE_THREADS: '1',
      ASR_PARTIAL_INTERVAL_MS: '60000', // which words a partial text fixes depends on the machine
    },
  });
  const { chat, count, say } = call;
  await until(() => count('utterance.spoken') === 1);
  const wav = readWav(readFileSync(join(GOLDEN, 'clips/odd37.wav')));
  const clip = new Float32Array(wav.frames);
  wav.read(0, 0, clip);
  await say(half(clip));
  const first = await chat.asked(0);
  assert.deepEqual(withoutPrompt(first.question), [
    { role: 'user', content: '[The call begins]' },
    { role: 'assistant', content: 'Good morning.' },
    { role: 'user', content: FOX },
  ]);
  first.say('Well jumped.').call('hang_up', {}).done();
  assert.equal(await ended(call), 'we hung up');
});

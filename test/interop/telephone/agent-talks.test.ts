// A caller talks by telephone with the built-in agent: SIPp calls, a peer speaks and hears in RTP, a scripted
// model answers, and a scripted server recognises the caller. Everything of the server is real.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { CallEvent } from '../../../src/call/utterance.js';
import type { PhoneCallEvent } from '../../../src/call/phone-calls.js';
import type { Environment } from '../../../src/config/environment.js';
import { RelayBackend } from '../../api/relay/relay-backend.js';
import { ChatEndpoint } from '../../agents/chat-endpoint.js';
import { TranscriptionServerUnderTest } from '../../engines/transcription-server.js';
import { until } from '../../fakes/until.js';
import { cough } from '../../hearing/sounds.js';
import { kept } from './kept.js';
import { g711Sound } from './rtp-record.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { likenessSoFar } from './sound-shape.js';
import { type TelephoneFiles, TelephoneServer } from './telephone-server.js';

const RATE = 8000;
const QUESTION = 'Excuse me, can I ask you something?';
const STORY =
  'There was a miller whose only inheritance to his three sons was his mill, his ass, and his cat. ' +
  'The division was soon made, and they had neither clerk nor attorney.';
const HOLD_MS = 60_000;

/** What the recogniser finds in the next turns. */
class Transcripts {
  next = '';
  readonly #server: TranscriptionServerUnderTest;
  #answered = 0;
  #isOver = false;

  constructor(server: TranscriptionServerUnderTest, t: TestContext) {
    this.#server = server;
    t.after(() => (this.#isOver = true));
    void this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      for (const probe of this.#server.probes.splice(0)) probe.end('{"data": []}');
      const asked = this.#server.asked[this.#answered];
      if (asked !== undefined) {
        this.#answered++;
        asked.say(this.next);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

async function begin(t: TestContext, environment: Environment = {}, files: TelephoneFiles = {}) {
  const chat = await ChatEndpoint.open(t);
  const recogniser = await TranscriptionServerUnderTest.open(t);
  const transcripts = new Transcripts(recogniser, t);
  const own = {
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'small',
    AGENT_GREETING: 'Good morning.',
    ASR_BASE_URL: recogniser.baseUrl,
    ASR_MODEL: 'whisper-1',
  };
  const server = await TelephoneServer.start({ ...own, ...environment }, files);
  t.after(() => server.close());
  const rtp = await kept(t, RtpPeer.open());
  await kept(
    t,
    Sipp.call(server.address, 'call-basic', { holdMs: HOLD_MS, limitS: 90, keys: { rtp_port: rtp.port } }),
  );
  const opened = () => server.telephone.list()[0];
  await until(() => opened()?.state === 'connected');
  const { id } = opened() ?? assert.fail('the call has ended');
  const events: CallEvent[] = [];
  const all: PhoneCallEvent[] = [];
  server.telephone.follow(id, 0, (event) => {
    all.push(event);
    if (event.type === 'speech') events.push(event.event);
  });
  await until(() => rtp.source !== undefined);
  const stream = rtp.stream(rtp.source ?? assert.fail());
  const count = (type: CallEvent['type']) => events.filter((event) => event.type === type).length;
  const silence = new Float32Array(RATE);
  const question = await server.rendered(QUESTION, { voice: 'rms' });
  return {
    chat,
    server,
    transcripts,
    rtp,
    events,
    all,
    count,
    /** Sends sound, and then a second of silence. */
    say: async (samples: Float32Array) => (await stream.play(samples), stream.play(silence)),
    question: question.samples,
  };
}

function half(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / 2) }, (_, n) => {
    return ((samples[2 * n] ?? 0) + (samples[2 * n + 1] ?? 0)) / 2;
  });
}

test('three turns: an answer, one that a cough does not stop and a question does, and a goodbye', async (t) => {
  const { chat, server, transcripts, rtp, events, all, count, say, question } = await begin(t);
  await until(() => count('utterance.spoken') === 1);
  transcripts.next = 'May I ask something?';
  await say(question);
  const first = await chat.asked(0);
  assert.deepEqual(first.question.messages.slice(1), [
    { role: 'assistant', content: 'Good morning.' },
    { role: 'user', content: 'May I ask something?' },
  ]);
  first.say('Of ', 'course. ', 'Please ', 'do.').done();
  await until(() => count('utterance.spoken') === 2);
  const answered = events.find((event) => event.type === 'agent.answered');
  assert.ok(answered?.type === 'agent.answered');
  assert.ok((answered.silenceMs ?? 0) >= 300 && answered.totalMs < 5000, JSON.stringify(answered));

  transcripts.next = 'Tell me a story.';
  await say(question);
  (await chat.asked(1)).say(STORY).done();
  await until(() => count('utterance.started') === 3);
  transcripts.next = '';
  await say(half(cough(-25)));
  assert.equal(count('utterance.interrupted'), 0, 'a cough stops nothing');
  transcripts.next = 'Stop, please.';
  await say(question);
  const third = await chat.asked(2);
  const cut = events.find((event) => event.type === 'utterance.interrupted');
  assert.ok(cut?.type === 'utterance.interrupted');
  assert.ok(STORY.startsWith(cut.heard) && cut.heard.length > 10, cut.heard);
  assert.deepEqual(third.question.messages.slice(-3), [
    { role: 'user', content: 'Tell me a story.' },
    { role: 'assistant', content: cut.heard.trim() },
    { role: 'user', content: 'Stop, please.' },
  ]);

  const before = rtp.heard.length;
  third.say('Goodbye, and thank you.').call('hang_up', {}).done();
  await until(() => all.at(-1)?.type === 'state');
  const end = all.at(-1);
  assert.ok(end?.type === 'state' && end.state === 'ended' && end.end?.reason === 'we hung up');
  const sound = { samples: g711Sound(rtp.heard.slice(before)), rate: RATE };
  const heard = likenessSoFar(sound, await server.rendered('Goodbye, and thank you.'));
  assert.ok(heard.correlation > 0.9, `the goodbye was heard to its end: ${JSON.stringify(heard)}`);
  assert.equal(chat.answers.length, 3);
});

test('a model that is gone is heard as a phrase, and the third time ends the call', async (t) => {
  const { chat, transcripts, all, count, say, question } = await begin(t);
  await until(() => count('utterance.spoken') === 1);
  chat.close();
  transcripts.next = 'Hello?';
  for (const failures of [1, 2, 3]) {
    await say(question);
    await until(() => count('agent.failed') === failures && count('utterance.spoken') >= failures + 1);
  }
  await until(() => all.some((event) => event.type === 'state' && event.state === 'ended'));
});

test('an application of ConversationRelay talks with the callers of its rule', async (t) => {
  const backend = await RelayBackend.open(t);
  const folder = mkdtempSync(join(tmpdir(), 'parley-agents-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'agents.json');
  const relay = { url: backend.url, welcomeGreeting: 'Good morning.', events: 'tokens-played' };
  writeFileSync(file, JSON.stringify({ agents: { bot: { relay } } }));
  const { transcripts, count, say, question, all } = await begin(
    t,
    { AGENTS_FILE: file },
    { routes: [{ to: '*', agent: 'bot' }] },
  );
  await until(() => count('utterance.spoken') === 1);
  const app = await backend.socket();
  const setup = await app.message('setup');
  assert.deepEqual([setup['callType'], setup['direction']], ['SIP', 'inbound']);
  transcripts.next = 'May I ask something?';
  await say(question);
  assert.equal((await app.message('prompt'))['voicePrompt'], 'May I ask something?');
  for (const token of ['Of ', 'course. ', 'Please ', 'do.']) app.send({ type: 'text', token });
  app.send({ type: 'text', token: '', last: true });
  await until(() => count('utterance.spoken') === 2);
  await until(() => app.of('info').length === 4);
  const played = app.of('info').map(({ value }) => value);
  assert.equal(played.join(''), 'Of course. Please do.');
  app.send({ type: 'text', token: 'Goodbye.', last: true });
  app.send({ type: 'end', handoffData: '{}' });
  await until(() => all.at(-1)?.type === 'state');
  assert.equal(count('utterance.spoken'), 3);
});

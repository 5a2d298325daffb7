// A conversation with the built-in agent from a page: Chromium's microphone is a file of speech, the page
// uses parley.js, a scripted server recognises the caller and a scripted model answers.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { until } from '../fakes/until.js';
import { joined, silence, speech } from '../hearing/sounds.js';
import { openMicrophonePage } from './microphone-page.js';
import { likeness, wavBytes } from './telephone/sound-shape.js';
import { Transcripts } from './telephone/agent-call.js';

const HEARD_RATE = 16_000; // of what the recogniser gets
const QUESTION = 'Excuse me, can I ask you something about my order?';
const GREETING = 'Good morning.';
const ANSWER = 'It is on its way. It arrives on Tuesday.';
/** The microphone is silent for so long: the greeting is heard meanwhile. */
const LEAD_MS = 5000;
const TAIL_MS = 20_000;
const LOUD = 0.01; // share of full scale
const LEAST_PACKETS = 100; // of the answer, which takes more than two seconds

async function openServer(t: TestContext) {
  const [chat, recogniser] = [await ChatEndpoint.open(t), await TranscriptionServerUnderTest.open(t)];
  const transcripts = new Transcripts(recogniser, t);
  const own = {
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'small',
    AGENT_GREETING: GREETING,
    ASR_BASE_URL: recogniser.baseUrl,
    ASR_MODEL: 'whisper-1',
  };
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const server = await startServer(readConfig({ ...environment, ICE_HOST_ADDRESSES: '127.0.0.1', ...own }));
  t.after(() => server.close());
  return { chat, recogniser, transcripts, server };
}

test('the speech of a page reaches the model, and the answer is heard in the page', async (t) => {
  const { chat, recogniser, transcripts, server } = await openServer(t);
  const folder = mkdtempSync(join(tmpdir(), 'parley-microphone-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const question = await speech(QUESTION, 'rms');
  const microphone = { samples: joined(silence(LEAD_MS), question, silence(TAIL_MS)), rate: HEARD_RATE };
  writeFileSync(join(folder, 'microphone.wav'), wavBytes(microphone));
  transcripts.next = 'Where is my order?';
  const caller = await openMicrophonePage(t, server.url, join(folder, 'microphone.wav'));
  const spoken = async () =>
    (await caller.events()).filter(({ type }) => type === 'utterance.spoken').map(({ text }) => text);

  const asked = await chat.asked(0);
  assert.deepEqual(asked.question.messages.slice(1), [
    { role: 'user', content: '[The call begins]' },
    { role: 'assistant', content: GREETING },
    { role: 'user', content: 'Where is my order?' },
  ]);
  const { sound } = await recogniser.request(0);
  const heard = likeness({ samples: sound, rate: HEARD_RATE }, { samples: question, rate: HEARD_RATE });
  assert.ok(heard.correlation > 0.9, `the recogniser gets the caller's speech: ${JSON.stringify(heard)}`);

  const before = await caller.sound();
  const framesBefore = (await caller.levels()).length;
  asked.say(...ANSWER.split(/(?<= )/)).done();
  await until(async () => (await spoken()).length === 2);
  assert.deepEqual(await spoken(), [GREETING, ANSWER]);
  const after = await caller.sound();
  assert.ok(after.packets - before.packets > LEAST_PACKETS, `${after.packets - before.packets} packets`);
  assert.equal(after.lost, 0);
  const levels = (await caller.levels()).slice(framesBefore);
  const loud = levels.filter((level) => level > LOUD).length;
  assert.ok(loud > 20, `${loud} loud frames of ${levels.length}`);
  const types = (await caller.events()).map(({ type }) => type);
  for (const type of ['speech.started', 'turn.ended', 'agent.prompt', 'agent.answered'])
    assert.ok(types.includes(type), `the page is told ${type}: ${types.join(' ')}`);
});

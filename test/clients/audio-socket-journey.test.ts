// A whole server that Asterisk calls over AudioSocket: the greeting is heard, the caller is understood, the
// model answers and hangs up.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { createLog } from '../../src/observe/log.js';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { until } from '../fakes/until.js';
import { Transcripts } from '../interop/telephone/agent-call.js';
import { SocketClient } from '../api/http/socket-client.js';
import { FarEnd, UUID } from '../api/audiosocket/far-end.js';

const GREETING = 'Good morning.';
const QUESTION = 'Where is my order?';
const FRAME_BYTES = 320;
const FRAME_MS = 20;
const LOUD = 1000; // of 32768

const isLoud = (sound: Buffer) =>
  Array.from({ length: sound.length / 2 }, (_, n) => Math.abs(sound.readInt16LE(2 * n))).some(
    (sample) => sample > LOUD,
  );

/** Sends sound as fast as it is spoken, and after it silence until the returned function is called. */
function speak(farEnd: FarEnd, sound: Buffer): () => void {
  const begun = performance.now();
  let frame = 0;
  const timer = setInterval(() => {
    for (; frame * FRAME_MS < performance.now() - begun; frame++) {
      const part = Buffer.alloc(FRAME_BYTES);
      part.set(sound.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES));
      farEnd.send(0x10, part);
    }
  }, FRAME_MS);
  return () => clearInterval(timer);
}

type Line = Readonly<Record<string, unknown>>;

/** A server that takes calls over AudioSocket, and the lines of its log by their message. */
async function openServer(t: TestContext, environment: Readonly<Record<string, string>>) {
  const lines: Line[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Line);
  const own = { PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', AUDIOSOCKET_PORT: '0' };
  const log = createLog({ level: 'info', logText: false, destination: { write } });
  const server = await startServer(readConfig({ ...own, ...environment }), { log });
  t.after(() => server.close());
  const line = (msg: string) => lines.find((entry) => entry['msg'] === msg);
  return { server, line, port: Number(line('AudioSocket listens')?.['port']) };
}

test('a caller of Asterisk is greeted, understood and answered, until the model hangs up', async (t) => {
  const [chat, recogniser] = [await ChatEndpoint.open(t), await TranscriptionServerUnderTest.open(t)];
  const transcripts = new Transcripts(recogniser, t);
  const { server, line, port } = await openServer(t, {
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'small',
    AGENT_GREETING: GREETING,
    ASR_BASE_URL: recogniser.baseUrl,
    ASR_MODEL: 'whisper-1',
  });
  const answer = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: QUESTION, voice: 'rms', response_format: 'pcm', sample_rate: 8000 }),
  });
  const question = Buffer.from(await answer.arrayBuffer());

  const farEnd = await FarEnd.call(t, port);
  await until(() => farEnd.sounds().filter(isLoud).length > 10);
  assert.equal(line('AudioSocket call opened')?.['uuid'], UUID);
  await until(() => !farEnd.sounds().slice(-25).some(isLoud));

  transcripts.next = QUESTION;
  t.after(speak(farEnd, question));
  const { sound } = await recogniser.request(0);
  assert.ok(sound.length > 16_000 && sound.some((sample) => Math.abs(sample) > 0.1));
  const prompt = await chat.asked(0);
  assert.deepEqual(prompt.question.messages.slice(-2), [
    { role: 'assistant', content: GREETING },
    { role: 'user', content: QUESTION },
  ]);
  const before = farEnd.sounds().length;
  prompt.say('It comes ', 'tomorrow.').call('hang_up', {}).done();
  await farEnd.hungUp();
  assert.ok(farEnd.sounds().slice(before).filter(isLoud).length > 20);
  await until(() => server.switchboard.size === 0);
});

test('an application of ConversationRelay attaches to a call without an agent, speaks, and ends it', async (t) => {
  const { server, line, port } = await openServer(t, { AUDIOSOCKET_AGENT: 'none' });
  const farEnd = await FarEnd.call(t, port);
  await until(() => line('AudioSocket call opened') !== undefined);
  const call = String(line('AudioSocket call opened')?.['call']);
  const application = await SocketClient.open(t, `${server.url}/v1/calls/${call}/relay?dtmfDetection=true`);
  await until(() => application.received.length > 0);
  const [setup] = application.received as Line[];
  assert.deepEqual([setup?.['type'], setup?.['from']], ['setup', `audiosocket:${UUID}`]);
  application.send({ type: 'text', token: GREETING, last: true });
  await until(() => farEnd.sounds().filter(isLoud).length > 10);
  farEnd.send(0x03, Buffer.from('5'));
  await until(() =>
    (application.received as Line[]).some(({ type, digit }) => type === 'dtmf' && digit === '5'),
  );
  application.send({ type: 'end' });
  await farEnd.hungUp();
});

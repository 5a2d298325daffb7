// A whole server that Asterisk calls over AudioSocket: the greeting is heard, the caller is understood, the
// model answers and hangs up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import { createLog } from '../../../src/observe/log.js';
import { ChatEndpoint } from '../../agents/chat-endpoint.js';
import { TranscriptionServerUnderTest } from '../../engines/transcription-server.js';
import { until } from '../../fakes/until.js';
import { Transcripts } from '../../interop/telephone/agent-call.js';
import { FarEnd, UUID } from './far-end.js';

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

test('a caller of Asterisk is greeted, understood and answered, until the model hangs up', async (t) => {
  const [chat, recogniser] = [await ChatEndpoint.open(t), await TranscriptionServerUnderTest.open(t)];
  const transcripts = new Transcripts(recogniser, t);
  const lines: Readonly<Record<string, unknown>>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const config = readConfig({
    PORT: '0',
    SIP_ENABLED: '0',
    ENGINE: 'flite',
    AUDIOSOCKET_PORT: '0',
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'small',
    AGENT_GREETING: GREETING,
    ASR_BASE_URL: recogniser.baseUrl,
    ASR_MODEL: 'whisper-1',
  });
  const log = createLog({ level: 'info', logText: false, destination: { write } });
  const server = await startServer(config, { log });
  t.after(() => server.close());
  const answer = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: QUESTION, voice: 'rms', response_format: 'pcm', sample_rate: 8000 }),
  });
  const question = Buffer.from(await answer.arrayBuffer());

  const line = (msg: string) => lines.find((entry) => entry['msg'] === msg);
  const farEnd = await FarEnd.call(t, Number(line('AudioSocket listens')?.['port']));
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

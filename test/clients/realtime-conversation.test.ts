// A conversation in OpenAI's Realtime events over WebSocket, through the whole server: the embedded voice, a
// tiny recogniser, a scripted model, and the npm packages `openai` and `@openai/agents-realtime`.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { makePair, TlsFiles } from '../api/http/tls-files.js';
import { GOLDEN } from '../engines/golden.js';
import { until } from '../fakes/until.js';
import { KEY, speakingServer } from './speaking-server.js';
import { FOX, spoken } from './spoken-clip.js';

const ANSWER = 'It jumped over the dog, and then it ran away.';

/** An agent that hears. */
function agentOf(chat: ChatEndpoint): Record<string, string> {
  return {
    ASR_MODEL_DIR: join(GOLDEN, 'tiny-asr-b'),
    INFERENCE_THREADS: '1',
    ASR_PARTIAL_INTERVAL_MS: '60000', // which words a partial text fixes depends on the machine
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'scripted',
  };
}

async function converse(t: TestContext, environment: Record<string, string>) {
  const files = new TlsFiles(t);
  files.write(await makePair());
  const server = await speakingServer({ ...environment, TLS_CERT: files.tlsCert, TLS_KEY: files.tlsKey });
  t.after(() => server.close());
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY });
  const realtime = new OpenAIRealtimeWS(
    { model: 'gpt-realtime', options: { rejectUnauthorized: false } },
    client,
  );
  t.after(() => realtime.close());
  const events: RealtimeServerEvent[] = [];
  realtime.on('event', (event) => void events.push(event));
  const errors: unknown[] = [];
  realtime.on('error', (error) => errors.push(error));
  const all = <T extends RealtimeServerEvent['type']>(type: T) =>
    events.filter((event): event is Extract<RealtimeServerEvent, { type: T }> => event.type === type);
  await until(() => all('session.created').length > 0);
  return { server, realtime, all, errors };
}

test('where no call is free the client is told, without the variable of the operator', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const { server } = await converse(t, { ...agentOf(chat), MAX_CALLS: '1' });
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/realtime?model=gpt-realtime`, {
    headers: { authorization: `Bearer ${KEY}` },
    rejectUnauthorized: false,
  });
  t.after(() => socket.terminate());
  const [[message], [code]] = await Promise.all([once(socket, 'message'), once(socket, 'close')]);
  assert.deepEqual(JSON.parse(String(message)), {
    type: 'error',
    error: { type: 'server_error', code: 'CALL_LIMIT', message: '1 calls are open' },
  });
  assert.equal(code, 1013);
});

test('the npm package openai converses: a question in sound, an answer in sound', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const { server, realtime, all, errors } = await converse(t, agentOf(chat));
  assert.equal(server.switchboard.size, 1);
  for (const piece of spoken())
    realtime.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  const question = await chat.asked(0);
  const { messages } = question.question;
  assert.deepEqual(messages.at(-1), { role: 'user', content: FOX });
  question.say(...ANSWER.split(/(?= )/)).done();
  await until(() => all('response.done').length > 0);
  const [completed] = all('conversation.item.input_audio_transcription.completed');
  assert.equal(completed?.transcript, FOX);
  const sound = all('response.output_audio.delta').map(({ delta }) => Buffer.from(delta, 'base64'));
  const seconds = sound.reduce((sum, { length }) => sum + length, 0) / 48_000;
  assert.ok(seconds > 1.5 && seconds < 6, `${seconds} s`);
  assert.equal(all('response.output_audio_transcript.done')[0]?.transcript, ANSWER);
  assert.equal(all('response.done')[0]?.response.status, 'completed');
  assert.deepEqual(errors, []);
  realtime.close();
  await until(() => server.switchboard.size === 0);
});

test('the npm package openai ends a turn by itself, and asks for the answer', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const { realtime, all, errors } = await converse(t, agentOf(chat));
  const input = { turn_detection: null };
  realtime.send({ type: 'session.update', session: { type: 'realtime', audio: { input } } });
  await until(() => all('session.updated').length > 0);
  for (const piece of spoken())
    realtime.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  realtime.send({ type: 'input_audio_buffer.commit' });
  realtime.send({ type: 'response.create' });
  const question = await chat.asked(0);
  assert.deepEqual(question.question.messages.at(-1), { role: 'user', content: FOX });
  question.say(...ANSWER.split(/(?= )/)).done();
  await until(() => all('response.done').length > 0);
  const [committed, ...more] = all('input_audio_buffer.committed');
  const [completed] = all('conversation.item.input_audio_transcription.completed');
  assert.deepEqual([completed?.item_id, completed?.transcript], [committed?.item_id, FOX]);
  assert.deepEqual([more, all('input_audio_buffer.speech_started'), errors], [[], [], []]);
});

test('without an agent it is the mouth of the application', async (t) => {
  const { realtime, all, errors } = await converse(t, {});
  const content = [{ type: 'output_text' as const, text: 'Your train leaves at nine.' }];
  realtime.send({ type: 'conversation.item.create', item: { type: 'message', role: 'assistant', content } });
  realtime.send({ type: 'response.create' });
  await until(() => all('response.done').length > 0);
  assert.ok(all('response.output_audio.delta').length > 50);
  assert.deepEqual(errors, []);
});

test('a client secret opens a socket with its session, and no other socket', async (t) => {
  const server = await speakingServer();
  t.after(() => server.close());
  const audio = { output: { format: { type: 'audio/pcmu' } } };
  const made = await fetch(`${server.url}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ session: { type: 'realtime', audio } }),
  });
  const { value } = (await made.json()) as { value: string };
  const protocols = ['realtime', `openai-insecure-api-key.${value}`];
  const address = server.url.replace('http', 'ws');
  const socket = new WebSocket(`${address}/v1/realtime`, protocols);
  t.after(() => socket.terminate());
  const [first] = (await once(socket, 'message')) as [Buffer];
  const created = JSON.parse(first.toString()) as Extract<RealtimeServerEvent, { type: 'session.created' }>;
  assert.ok(created.session.type === 'realtime');
  assert.deepEqual(created.session.audio?.output?.format, { type: 'audio/pcmu' });
  assert.equal(server.switchboard.size, 1);
  for (const path of ['/v1/relay', '/v1/realtime']) {
    const refused = new WebSocket(`${address}${path}`, ['realtime', 'openai-insecure-api-key.ek_guessed']);
    refused.on('error', () => undefined);
    const [, response] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage];
    assert.equal(response.statusCode, 401);
  }
  const other = new WebSocket(`${address}/v1/relay`, protocols);
  other.on('error', () => undefined);
  const [, response] = (await once(other, 'unexpected-response')) as [unknown, IncomingMessage];
  assert.equal(response.statusCode, 401);
});

test('an agent of openai-agents-js hears, calls its own function, and speaks', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const server = await speakingServer(agentOf(chat));
  t.after(() => server.close());
  const cities: string[] = [];
  const weather = tool({
    name: 'weather',
    description: 'The weather of a city',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => (cities.push(city), Promise.resolve(`sunny in ${city}`)),
  });
  const agent = new RealtimeAgent({ name: 'Guide', instructions: 'You help.', tools: [weather] });
  const transport = new OpenAIRealtimeWebSocket({ url: `${server.url.replace('http', 'ws')}/v1/realtime` });
  const session = new RealtimeSession(agent, {
    transport,
    config: { turnDetection: { type: 'server_vad' } },
  });
  t.after(() => session.close());
  const [errors, said]: [unknown[], string[]] = [[], []];
  let soundBytes = 0;
  session.on('error', ({ error }) => errors.push(error));
  session.on('audio', ({ data }) => (soundBytes += data.byteLength));
  session.on('agent_end', (_context, _agent, output) => said.push(output));
  await session.connect({ apiKey: KEY });
  for (const piece of spoken()) session.sendAudio(Uint8Array.from(piece).buffer);
  const question = await chat.asked(0);
  assert.deepEqual(question.question.messages[0], { role: 'system', content: 'You help.' });
  assert.deepEqual(question.question.messages.at(-1), { role: 'user', content: FOX });
  question.call('weather', { city: 'Bern' }).done();
  const second = await chat.asked(1);
  assert.deepEqual(cities, ['Bern']);
  assert.equal(second.question.messages.at(-1)?.content, 'sunny in Bern');
  second.say('It is sunny ', 'in Bern.').done();
  await until(() => said.includes('It is sunny in Bern.'));
  assert.ok(soundBytes > 48_000, `${soundBytes} bytes`);
  assert.deepEqual(errors, []);
});

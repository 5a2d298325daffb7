// The log line and the metrics of a request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { createLog } from '../../src/observe/log.js';
import type { SoundOutcome } from '../../src/speaking/sound.js';
import { until } from '../fakes/until.js';
import { openApp, openServer } from './app-under-test.js';
import { FakeStream } from './fake-speech.js';

const SPEECH = '/v1/audio/speech';
const OUTCOME: SoundOutcome = {
  durationMs: 1000,
  sentences: [],
  timing: { queueMs: 1.4, loadMs: 0, inferMs: 250, encodeMs: 2.6 },
};

function lastLine(logLines: readonly string[]): Record<string, unknown> {
  return JSON.parse(logLines.at(-1) ?? '') as Record<string, unknown>;
}

async function metricLines(metrics: { exposition(): Promise<string> }, name: string): Promise<string[]> {
  return (await metrics.exposition()).split('\n').filter((line) => line.startsWith(name));
}

test('the line and the metrics have the voice, the language and the format that the request left to the server', async (t) => {
  const { app, speech, logLines, metrics } = await openApp(t);
  speech.speaker = { voice: 'slt', language: 'en' };
  const ask = async (url: string, payload: object, cache: 'hit' | 'miss' = 'miss') => {
    speech.next = Object.assign(new FakeStream('audio/mpeg'), { outcome: Promise.resolve(OUTCOME), cache });
    (speech.next as FakeStream).end();
    assert.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 200);
    const { voice, language, format } = lastLine(logLines);
    return [voice, language, format];
  };
  assert.deepEqual(await ask(SPEECH, { input: 'Hello.' }), ['slt', 'en', 'mp3']);
  assert.deepEqual(await ask(SPEECH, { input: 'Hello.', language: 'French' }), ['slt', 'fr', 'mp3']);
  assert.deepEqual(await ask(SPEECH, { input: 'Hello.', voice: 'alloy', response_format: 'wav' }), [
    'alloy',
    'en',
    'wav',
  ]);
  assert.deepEqual(await ask(SPEECH, { input: 'Hello.' }, 'hit'), ['slt', 'en', 'mp3']);
  assert.deepEqual(await ask(`${SPEECH}/batch`, { items: [{ input: 'Hello.' }, { input: 'Yes.' }] }), [
    'slt',
    'en',
    'wav',
  ]);
  speech.speaker = { language: 'de' };
  assert.deepEqual(await ask(SPEECH, { input: 'Hello.', voice: 'my voice' }), ['my voice', 'de', 'mp3']);
  assert.deepEqual(await metricLines(metrics, 'tts_synthesis_duration_seconds_count'), [
    'tts_synthesis_duration_seconds_count{voice="slt",language="en",format="mp3"} 2',
    'tts_synthesis_duration_seconds_count{voice="slt",language="en",format="wav"} 1',
    'tts_synthesis_duration_seconds_count{voice="custom",language="de",format="mp3"} 1',
  ]);
  assert.deepEqual(
    (await metricLines(metrics, 'tts_synthesis_duration_seconds_sum')).at(-1),
    'tts_synthesis_duration_seconds_sum{voice="custom",language="de",format="mp3"} 0.2526',
  );
});

test('a spoken text is one line: what it took, of what it was, and not its words', async (t) => {
  const { app, speech, logLines } = await openApp(t);
  const payload = { input: 'my secret', voice: 'slt', language: 'English', response_format: 'wav' };
  const answering = app.inject({ method: 'POST', url: SPEECH, payload }).then((answer) => answer);
  const stream = await speech.stream();
  Object.assign(stream, { outcome: Promise.resolve(OUTCOME), cache: 'miss' });
  stream.push('sound');
  stream.end();
  await answering;
  assert.equal(logLines.length, 1);
  const { time: _time, ms, totalMs, ...line } = lastLine(logLines);
  assert.deepEqual(line, {
    level: 'info',
    requestId: 'req_1',
    method: 'POST',
    route: SPEECH,
    status: 200,
    queueMs: 1,
    loadMs: 0,
    inferMs: 250,
    encodeMs: 3,
    characters: 9,
    voice: 'slt',
    format: 'wav',
    language: 'en',
    cache: 'miss',
    text: '[redacted]',
    msg: 'request answered',
  });
  assert.ok(typeof ms === 'number' && ms >= 0);
  assert.equal(totalMs, ms);
});

test('a sound that was made for an earlier request took nothing of this one', async (t) => {
  const { app, speech, logLines } = await openApp(t);
  speech.keep('sound', 'audio/mpeg', OUTCOME);
  for (const fields of [{}, { stream_format: 'sse' }]) {
    await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Hello.', ...fields } });
    const { cache, queueMs, inferMs, encodeMs } = lastLine(logLines);
    assert.deepEqual([cache, queueMs, inferMs, encodeMs], ['hit', 0, 0, 0]);
  }
});

test('the words are in the line where the operator wants them', async (t) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const { app, speech } = await openApp(t, { log: createLog({ level: 'info', logText: true, destination }) });
  speech.keep('sound');
  await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Good morning.' } });
  const { text, cache, queueMs } = lastLine(lines);
  assert.deepEqual({ text, cache, queueMs }, { text: 'Good morning.', cache: 'hit', queueMs: 0 });
});

test('what was refused stands in the line by its code, and a voice that nobody has does not', async (t) => {
  const { app, speech, logLines } = await openApp(t);
  speech.refusal = new ParleyError('VOICE_UNKNOWN', 'there is no such voice', { field: 'voice' });
  await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'x', voice: 'my secret' } });
  const line = lastLine(logLines);
  assert.deepEqual([line['status'], line['code'], line['voice']], [400, 'voice_unknown', undefined]);
  await app.inject({ method: 'POST', url: SPEECH, payload: { input: 7 } });
  assert.deepEqual([lastLine(logLines)['code'], lastLine(logLines)['format']], ['invalid_value', undefined]);
});

test('requests for speech are counted under the names of the older server', async (t) => {
  const { app, speech, metrics } = await openApp(t);
  const ask = (fields: object) =>
    app.inject({ method: 'POST', url: SPEECH, payload: { input: 'x', ...fields } });
  const answering = ask({ response_format: 'wav' }).then((answer) => answer);
  const stream = await speech.stream();
  stream.outcome = Promise.resolve(OUTCOME);
  stream.push('sound');
  stream.end();
  await answering;
  speech.keep('sound');
  await ask({});
  await ask({});
  await ask({ speed: 9 });
  await app.inject('/v1/models/other');
  assert.deepEqual(await metricLines(metrics, 'tts_requests_total{'), [
    'tts_requests_total{endpoint="/v1/audio/speech",format="wav",status="200"} 1',
    'tts_requests_total{endpoint="/v1/audio/speech",format="mp3",status="200"} 2',
    'tts_requests_total{endpoint="/v1/audio/speech",format="none",status="400"} 1',
  ]);
  assert.deepEqual(await metricLines(metrics, 'tts_errors_total{'), [
    'tts_errors_total{code="invalid_value"} 1',
  ]);
  assert.deepEqual(await metricLines(metrics, 'tts_request_duration_seconds_count'), [
    'tts_request_duration_seconds_count{endpoint="/v1/audio/speech"} 4',
  ]);
  // Only one of them cost an engine anything.
  assert.deepEqual(await metricLines(metrics, 'tts_inference_duration_seconds_sum'), [
    'tts_inference_duration_seconds_sum 0.25',
  ]);
  assert.deepEqual(await metricLines(metrics, 'tts_inference_duration_seconds_count'), [
    'tts_inference_duration_seconds_count 1',
  ]);
});

test('a sound that breaks off counts as an error, and a client that leaves does not', async (t) => {
  const { url, speech, metrics, logLines } = await openServer(t);
  const body = '{"input":"Hello."}';
  const ask = (signal: AbortSignal | null) =>
    fetch(`${url}${SPEECH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal,
    });
  const lines = () => logLines.filter((line) => line.includes('request abandoned')).length;
  const failing = ask(null);
  const failed = await speech.stream();
  failed.push('half of');
  const broken = (await failing).arrayBuffer();
  failed.end(new ParleyError('ENGINE_FAILED', 'detail'));
  await assert.rejects(broken);
  await until(() => lines() === 1);

  speech.streams.length = 0;
  const client = new AbortController();
  const leaving = ask(client.signal);
  const left = await speech.stream();
  left.push('begun');
  await leaving;
  client.abort();
  await left.cancelled;
  await until(() => lines() === 2);
  assert.deepEqual(await metricLines(metrics, 'tts_errors_total{'), [
    'tts_errors_total{code="engine_failed"} 1',
  ]);
});

test('without metrics there is nothing under their address', async (t) => {
  const { app } = await openApp(t, { exposesMetrics: false });
  assert.equal((await app.inject('/metrics')).statusCode, 404);
});

test('a request that changes something is logged at info, one that only looks at the server at debug', async (t) => {
  const { app, logLines } = await openApp(t);
  const levelAfter = async (method: 'GET' | 'POST', url: string) => {
    await app.inject({ method, url });
    return lastLine(logLines)['level'];
  };
  assert.equal(await levelAfter('POST', '/cache/clear'), 'info');
  assert.equal(await levelAfter('GET', '/health'), 'debug');
});

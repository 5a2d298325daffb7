// The times of the words of a sentence in a call, while it is heard: with an engine of the test, and with a
// real one in a whole server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { WeriftClient } from '../signaling/werift-client.js';
import { buzz } from '../fakes/engines.js';
import { FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';

const calls = openCalls();
const TEXT = 'It costs $3.50.';
const SPOKEN = 'It costs three dollars and fifty cents.';
const SILENCE_MS = 200;
const KEPT_MS = 20; // of the silence, by the trimmer

test('times count from the first packet, for the words as they were written, until the utterance is over', async () => {
  const { call, engine, events, pass } = calls.open();
  const silence = new Float32Array(buzz(SILENCE_MS, 0.5).length);
  engine.sounds.set(SPOKEN, Float32Array.from([...silence, ...buzz(1000, 0.5)]));
  const at = (word: string, startMs: number, endMs: number) => ({
    word,
    textOffset: SPOKEN.indexOf(word),
    startMs: SILENCE_MS + startMs,
    endMs: SILENCE_MS + endMs,
  });
  engine.words.set(SPOKEN, [
    at('It', 0, 100),
    at('costs', 150, 300),
    at('three', 300, 400),
    at('dollars', 400, 600),
    at('and', 600, 650),
    at('fifty', 650, 800),
    at('cents', 800, 1000),
  ]);
  const { number, ended } = call.speak(TEXT);
  assert.deepEqual(call.wordTimes(number, 0), [], 'not known yet');
  const heard = (type: string) => events.some((event) => event.type === type);
  await until(() => {
    pass(FRAME_MS);
    return heard('sentence.started');
  });
  await until(() => call.wordTimes(number, 0).length > 0);
  const times = call.wordTimes(number, 0);
  assert.deepEqual(
    times.map(({ word, textOffset }) => [word, textOffset]),
    [
      ['It', 0],
      ['costs', 3],
      ['$3.50', 9],
    ],
  );
  assert.deepEqual(
    times.map(({ startMs, endMs }) => [startMs, endMs]),
    [
      [KEPT_MS, KEPT_MS + 100],
      [KEPT_MS + 150, KEPT_MS + 300],
      [KEPT_MS + 300, KEPT_MS + 1000],
    ],
  );
  assert.deepEqual(call.wordTimes(number, 1), [], 'there is no second sentence');
  assert.deepEqual(call.wordTimes(number + 1, 0), [], 'there is no second text');
  await until(() => {
    pass(FRAME_MS);
    return heard('utterance.spoken');
  });
  await ended;
  assert.deepEqual(call.wordTimes(number, 0), []);
});

test('a page that asks for them gets the times of flite soon after the sentence begins', async (t) => {
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const server = await startServer(readConfig({ ...environment, ICE_HOST_ADDRESSES: '127.0.0.1' }));
  t.after(() => server.close());
  const page = new WeriftClient();
  t.after(() => page.close());
  const headers = { 'content-type': 'application/sdp' };
  const body = await page.offer();
  const response = await fetch(`${server.url}/v1/realtime/calls`, { method: 'POST', headers, body });
  await page.accept(await response.text());
  const told = (type: string) =>
    page.until(() => page.messages.find((message) => message['type'] === type), type);
  await told('ready');
  page.send({ type: 'captions' });
  assert.deepEqual(await told('captions'), { type: 'captions', caller: false, words: true });
  const text = 'Good morning, everybody. ';
  page.send({ type: 'text', token: text.repeat(2), last: true });
  await told('utterance.spoken');
  const sentences = page.messages.filter(({ type }) => /^sentence\.(started|words)$/.test(String(type)));
  assert.deepEqual(
    sentences.map(
      ({ type, utterance, sentence }) => `${String(type)} ${String(utterance)} ${String(sentence)}`,
    ),
    ['sentence.started 1 0', 'sentence.words 1 0', 'sentence.started 1 1', 'sentence.words 1 1'],
  );
  for (const { words } of sentences.filter(({ type }) => type === 'sentence.words')) {
    const places = words as { start: number; end: number; startMs: number; endMs: number }[];
    assert.deepEqual(
      places.map(({ start, end }) => text.slice(start, end)),
      ['Good', 'morning', 'everybody'],
    );
    const times = places.flatMap(({ startMs, endMs }) => [startMs, endMs]);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok((times[0] ?? NaN) < 100 && (times.at(-1) ?? NaN) > 800, String(times));
  }
});

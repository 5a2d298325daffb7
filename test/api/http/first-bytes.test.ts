import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { FirstBytes } from '../../../src/api/http/listeners.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

function listening(): {
  time: ManualTime;
  first: FirstBytes;
  decided: string[];
  arrive: (...chunks: string[]) => PassThrough;
} {
  const time = new ManualTime();
  const decided: string[] = [];
  const first = new FirstBytes({
    limitMs: 1000,
    time,
    decided: (_socket, version) => void decided.push(version),
  });
  const arrive = (...chunks: string[]) => {
    const stream = new PassThrough();
    first.take(stream as unknown as Socket);
    for (const chunk of chunks) stream.write(chunk);
    return stream;
  };
  return { time, first, decided, arrive };
}

async function textOf(stream: PassThrough): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

test('the preface of HTTP/2 is known by its first three bytes, however they come', async () => {
  for (const chunks of [[PREFACE], PREFACE.split(''), ['P', 'RI'], ['PR', 'I * HTTP/2.0\r\n']]) {
    const { decided, arrive, time, first } = listening();
    const stream = arrive(...chunks);
    await until(() => decided.length === 1);
    assert.equal(decided[0], 'http/2');
    assert.equal(first.waiting, 0);
    assert.equal(time.waiting, 0, 'the limit is called off');
    stream.end();
    assert.equal(await textOf(stream), chunks.join(''), 'nothing is lost or turned around');
  }
});

test('whatever else begins is HTTP/1, also what begins as the preface does', async () => {
  for (const chunks of [
    ['GET / HTTP/1.1\r\n'],
    ['P', 'O', 'ST'],
    ['PR', 'OPFIND'],
    ['\u0016\u0003\u0001'],
    ['\r\n'],
  ]) {
    const { decided, arrive } = listening();
    const stream = arrive(...chunks);
    await until(() => decided.length === 1);
    assert.equal(decided[0], 'http/1', JSON.stringify(chunks));
    stream.end();
    assert.equal(await textOf(stream), chunks.join(''));
  }
});

test('whoever says too little for too long, leaves, or is there at the end, is cut off', async () => {
  const { time, first, decided, arrive } = listening();
  const silent = arrive();
  const slow = arrive('PR');
  await until(() => slow.readableLength === 0 && first.waiting === 2);
  time.advance(999);
  assert.equal(silent.destroyed || slow.destroyed, false);
  time.advance(1);
  assert.equal(silent.destroyed && slow.destroyed, true);
  await until(() => first.waiting === 0);
  const leaving = arrive('P');
  leaving.end();
  await until(() => leaving.destroyed);
  const last = arrive();
  first.close();
  assert.equal(last.destroyed, true);
  await until(() => first.waiting === 0);
  assert.equal(time.waiting, 0);
  assert.deepEqual(decided, []);
});

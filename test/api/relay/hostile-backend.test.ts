// An application that sends too much, or what it should not: every limit has a name, and the call goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { until } from '../../fakes/until.js';
import { openRelay } from './relay-under-test.js';

const calls = openCalls();

test('of ten thousand texts those that the queue takes are spoken, and each other one is refused', async (t) => {
  const under = await openRelay(t, calls);
  under.engine.gate = () => new Promise(() => undefined);
  for (let n = 0; n < 10_000; n++) under.say(`Text ${n}.`);
  await until(() => under.app.of('error').length >= 9990);
  const queued = 10_000 - under.app.of('error').length;
  assert.ok(queued >= 1 && queued <= 10, `${queued} are queued`);
  const reasons = new Set(under.app.of('error').map(({ description }) => description));
  assert.equal(reasons.size, 1);
  assert.match(String([...reasons][0]), /^3 texts wait/);
  assert.equal(under.app.closeCode, undefined, 'a queue that is full is no message that cannot be read');
  under.engine.gate = () => Promise.resolve();
  under.app.send({ type: 'clear' });
  await under.app.message('cleared');
  under.say('And now?');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.equal(under.engine.begun.at(-1), 'And now?');
});

test('a thousand marks may wait, the next ones are refused, and all that wait come in order', async (t) => {
  const under = await openRelay(t, calls);
  under.say('Well then.');
  await under.passUntil(() => under.count('utterance.started') === 1);
  for (let n = 0; n < 1100; n++) under.app.send({ type: 'mark', name: `m${n}` });
  await under.app.message('error', 99);
  await settle();
  assert.equal(under.app.of('error').length, 100);
  assert.equal(under.app.of('error')[0]?.['description'], '1000 marks wait already: no more are taken');
  assert.equal(under.app.closeCode, undefined);
  await under.passUntil(() => under.app.of('mark').length === 1000);
  const names = under.app.of('mark').map(({ name }) => name);
  assert.deepEqual(
    names,
    Array.from({ length: 1000 }, (_, n) => `m${n}`),
  );
});

test('a token of ten megabytes costs the application its socket, and not the call', async (t) => {
  const under = await openRelay(t, calls);
  under.app.send({ type: 'text', token: 'x'.repeat(10 << 20), last: true });
  await under.passUntil(() => under.backend.sockets.length === 2);
  assert.equal(under.app.closeCode, 1009);
  const again = await under.backend.socket(1);
  assert.equal((await again.message('setup'))['resumed'], true);
  again.send({ type: 'text', token: 'Sorry for that.', last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(under.engine.begun, ['One moment.', 'Sorry for that.']);
});

test('a token above its limit, and binary in between, leave the text that is open as it is', async (t) => {
  const under = await openRelay(t, calls);
  under.say('It is ', {});
  under.say('x'.repeat(65_537), {});
  under.app.socket.send(Buffer.from('{"type":"text","token":"not ","last":false}'));
  under.app.socket.send(Buffer.from([0xff, 0xfe, 0x00, 0x80]));
  under.say('nine.', { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['It is nine.']);
  assert.deepEqual(
    under.app.of('error').map(({ description }) => description),
    [
      '64107: "token" must be a string of at most 65536 characters',
      '64107: a message must be text, not binary',
      '64107: a message must be text, not binary',
    ],
  );
});

test('an application that writes for ever is told to pause, and then refused', async (t) => {
  const under = await openRelay(t, calls);
  under.engine.gate = () => new Promise(() => undefined);
  for (let n = 0; n < 900; n++) under.say('word '.repeat(20), {});
  await under.app.message('pause');
  await under.app.message('error');
  await settle();
  const [pause, ...more] = under.app.of('pause');
  assert.deepEqual([more.length, under.app.closeCode], [0, undefined]);
  assert.ok(Number(pause?.['waitingCharacters']) <= 4100);
  assert.match(String(under.app.of('error')[0]?.['description']), /^64000 characters wait/);
});

test('of a thousand sounds no more than sixteen are fetched at once', async (t) => {
  const under = await openRelay(t, calls);
  for (let n = 0; n < 1000; n++) under.app.send({ type: 'play', source: 'https://sounds.example.com/a.wav' });
  await until(() => under.app.of('error').length > 0);
  assert.match(
    String(under.app.of('error')[0]?.['description']),
    /^16 sounds are fetched already|texts wait in this call already/,
  );
});

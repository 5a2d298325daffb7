// The lines of the log: what is masked, the fields that every line has, and those of the lines about a call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, type LogLevel, textOf } from '../../src/observe/log.js';
import { openCalls } from '../fakes/call-under-test.js';

const calls = openCalls();

function logInto(lines: string[], options: { level?: LogLevel; logText?: boolean } = {}) {
  return createLog({
    level: options.level ?? 'info',
    logText: options.logText ?? false,
    destination: { write: (line) => void lines.push(line) },
  });
}

test('the words of a caller do not reach the log, neither as a field nor inside an event', () => {
  const lines: string[] = [];
  const log = logInto(lines);
  log.info(
    { call: 'c1', text: 'my card is 4929', event: { token: 'my card', input: '4929' } },
    'text arrived',
  );
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.includes('4929'), false);
  assert.equal(lines[0]?.includes('my card'), false);
  assert.deepEqual((JSON.parse(lines[0] ?? '') as { text: string }).text, '[redacted]');
});

test('what is masked in the log stays as it was, and an error stays one', () => {
  const lines: string[] = [];
  const log = logInto(lines);
  const fields = { text: 'a', event: { token: 'b', kind: 'c' } };
  log.info(fields, 'text arrived');
  assert.deepEqual(fields, { text: 'a', event: { token: 'b', kind: 'c' } });
  log.error({ err: Object.assign(new TypeError('wrong'), { input: 'b' }) }, 'failed');
  const line = JSON.parse(lines[1] ?? '') as { err: Record<string, unknown> };
  assert.equal(line.err['type'], 'TypeError');
  assert.equal(line.err['message'], 'wrong');
  assert.equal(line.err['input'], '[redacted]');
  assert.match(String(line.err['stack']), /TypeError: wrong/);
});

test('the words of a caller reach the log when the operator asked for them', () => {
  const lines: string[] = [];
  logInto(lines, { logText: true }).info({ text: 'hello' }, 'text arrived');
  assert.equal((JSON.parse(lines[0] ?? '') as { text: string }).text, 'hello');
});

test('API keys and SRTP keys never reach the log, even when words do', () => {
  const lines: string[] = [];
  logInto(lines, { logText: true }).info(
    { apiKeys: ['k-1'], request: { authorization: 'Bearer k-1' }, srtp: { key: 'k-1', salt: 'k-1' } },
    'started',
  );
  assert.equal(lines[0]?.includes('k-1'), false);
});

test('a line carries its level by name, the time in ISO 8601 and the fixed phrase', () => {
  const lines: string[] = [];
  logInto(lines).warn({ call: 'c1' }, 'call refused');
  const line = JSON.parse(lines[0] ?? '') as Record<string, string>;
  assert.equal(line['level'], 'warn');
  assert.match(line['time'] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(line['msg'], 'call refused');
});

test('lines below the level are not written', () => {
  const lines: string[] = [];
  const log = logInto(lines, { level: 'warn' });
  log.info({}, 'not this');
  log.error({}, 'this');
  assert.equal(lines.length, 1);
});

test('a call logs how its audio leaves when it opens, and its packets when it closes', async () => {
  const { call, log, pass } = calls.open();
  assert.deepEqual(log, ['call opened {"call":"call-1","protocol":"test","codec":"PCMU","path":"captured"}']);
  const utterance = call.speak('Hello.');
  await utterance.pushed;
  pass(1000);
  await utterance.ended;
  await call.close('peer hung up');
  const figures = { packets: 51, silencePackets: 45, underruns: 0, lateTicks: 0 };
  const closed = { call: 'call-1', reason: 'peer hung up', ...figures };
  assert.equal(log.at(-1), `call closed ${JSON.stringify(closed)}`);
});

test('at a terminal a line has time, level, message and fields, and no long list', () => {
  const at = new Date(2026, 10, 28, 9, 5, 3, 7);
  const languages = Array.from({ length: 131 }, (_, n) => `l${n}`);
  const record = {
    level: 'info',
    time: at.toISOString(),
    url: 'http://127.0.0.1:8080',
    port: 8080,
    agents: languages,
    missing: [{ name: 'espeak', remedy: 'set ESPEAK=1', languages }],
    msg: 'parley listens',
  };
  assert.equal(
    textOf(`${JSON.stringify(record)}\n`),
    '09:05:03.007 INFO  parley listens url=http://127.0.0.1:8080 port=8080 ' +
      'agents=[l0, l1, l2, l3, l4, l5, and 125 more] ' +
      'missing=[{name: espeak, remedy: "set ESPEAK=1", languages: [131 items]}]\n',
  );
});

test('an error in a line for people has its code, its message and its stack', () => {
  const err = {
    type: 'ParleyError',
    code: 'FAILED',
    message: 'it broke',
    stack: 'Error: it broke\n    at x.js:1',
  };
  const line = textOf(
    JSON.stringify({ level: 'error', time: new Date().toISOString(), err, call: 'c1', msg: 'call failed' }),
  );
  assert.match(
    line,
    /^\d\d:\d\d:\d\d\.\d{3} ERROR call failed call=c1 error="FAILED: it broke"\n {4}at x\.js:1\n$/,
  );
});

test('what a caller sends cannot command the terminal or forge a line', () => {
  const evil = 'a\u001b[2Jb\nc\u009b1md\u202ee';
  const line = textOf(
    JSON.stringify({
      level: 'warn',
      time: new Date().toISOString(),
      [evil]: evil,
      nested: [{ [evil]: evil }],
      msg: evil,
    }),
  );
  assert.equal(line.split('\n').length, 2);
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  assert.doesNotMatch(line.trimEnd(), /[\u0000-\u001f\u007f-\u009f\u202e]/);
});

test('the style decides, and a terminal only where it is left to that', () => {
  const cases = [
    ['auto', true, true],
    ['auto', false, false],
    ['json', true, false],
    ['text', false, true],
  ] as const;
  for (const [style, isTerminal, isText] of cases) {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLog({ level: 'info', logText: false, destination, style, isTerminal });
    log.info({ call: 'c1', text: 'my card' }, 'text arrived');
    assert.equal(lines[0]?.startsWith('{'), !isText, style);
    assert.equal(lines[0]?.includes('my card'), false);
  }
});

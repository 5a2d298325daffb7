// Checks digits in INFO: their bodies, and their way in both directions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import type { HeaderLine } from '../../../sip/message/serialiser.js';
import { type DtmfInfoType, readDtmfInfo, writeDtmfInfo } from '../../../sip/session/info-digits.js';
import { CALLEE } from '../transaction/network.js';
import { requestsTo, SeenEvents, TwoEnds } from './two-ends.js';

async function talking() {
  const ends = new TwoEnds();
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session));
  const call = ends.call();
  await ends.network.pass(100);
  const [session] = ends.invited;
  assert.ok(session);
  return { ends, call, session, seen };
}

const RELAY: HeaderLine = ['Content-Type', 'application/dtmf-relay'];

void test('digits of the peer are told with their duration, each once though a request comes twice', async () => {
  const { ends, call, seen } = await talking();
  let lost = 0;
  ends.network.loses = (text) => /^SIP\/2\.0 200[^]*INFO/.test(text) && lost++ === 0;
  const first = call.ask('INFO', [RELAY], 'Signal=5\r\nDuration=250\r\n');
  await ends.network.pass(1000);
  const second = call.ask('INFO', [['Content-Type', 'application/dtmf']], '#');
  await ends.network.pass(100);
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.deepEqual(seen.events, ['established', 'digit 5 250', 'digit # 160']);
});

for (const [what, status, headers, body] of [
  ['nothing', 200, [], undefined],
  ['no digit', 400, [RELAY], 'Signal=x\r\n'],
  ['a package', 469, [RELAY, ['Info-Package', 'dtmf']], 'Signal=1\r\n'],
  ['another type', 415, [['Content-Type', 'application/sdp']], 'v=0\r\n'],
  ['an unknown type', 415, [['Content-Type', 'application/x-fast-update']], 'x'],
] as const) {
  void test(`INFO with ${what} is answered with ${status} and tells nothing`, async () => {
    const { ends, call, seen } = await talking();
    const asked = call.ask('INFO', headers, body);
    await ends.network.pass(100);
    assert.equal((await asked).status, status);
    assert.deepEqual(seen.events, ['established']);
  });
}

void test('digits go out one after the other, in order, however many are lost', async () => {
  const { ends, call, session } = await talking();
  let sent = 0;
  ends.network.loses = (text) => text.startsWith('INFO') && sent++ % 2 === 0;
  const digits = Array.from('12*#', (digit) => session.sendDigit(digit, 100));
  await ends.network.pass(5000);
  assert.deepEqual(await Promise.all(digits), [true, true, true, true]);
  assert.deepEqual(call.seen.events.slice(1), ['digit 1 100', 'digit 2 100', 'digit * 100', 'digit # 100']);
});

void test('a peer that knows only the bare type gets that from then on', async () => {
  const { ends, call, session } = await talking();
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.contentType?.name === 'application/dtmf-relay') transaction.respond({ status: 415 });
    else request(asked, transaction);
  };
  const both = [session.sendDigit('7', 100), session.sendDigit('8', 100)];
  await ends.network.pass(300);
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.equal(requestsTo(ends.network, CALLEE, 'INFO').length, 3);
});

void test('what is no digit is not sent, nor one after the call or beyond the limit', async () => {
  const { ends, session } = await talking();
  assert.equal(await session.sendDigit('x', 100), false);
  const many = Array.from({ length: 65 }, () => session.sendDigit('1', 100));
  assert.equal(await many.at(-1), false);
  await ends.network.pass(3000);
  assert.equal((await Promise.all(many)).filter((taken) => taken).length, 64);
  void session.hangUp();
  assert.equal(await session.sendDigit('1', 100), false);
});

const RELAY_TYPE = 'application/dtmf-relay';

for (const [type, body, digit, durationMs] of [
  [RELAY_TYPE, 'Signal=5\r\nDuration=160\r\n', '5', 160],
  [RELAY_TYPE, 'Signal= 5\nDuration= 100', '5', 100],
  [RELAY_TYPE, 'signal=*\r\n', '*', 160],
  [RELAY_TYPE, 'Duration=1\r\nSignal=#\r\n', '#', 40],
  [RELAY_TYPE, 'Signal=a\r\nDuration=999999', 'A', 10_000],
  [RELAY_TYPE, 'Signal=10\r\n', '*', 160],
  [RELAY_TYPE, 'Signal=16\r\n', '!', 160],
  [RELAY_TYPE, 'Signal=hf\r\n', '!', 160],
  ['Application/DTMF; charset=utf-8', '7', '7', 160],
  ['application/dtmf', '11\r\n', '#', 160],
  ['application/dtmf', 'Signal=3', '3', 160],
] as const) {
  test(`${JSON.stringify(body)} as ${type} is the key ${digit} for ${durationMs} ms`, () => {
    assert.deepEqual(readDtmfInfo(type, Buffer.from(body))?.value, { digit, durationMs });
  });
}

test('a body without a digit is refused, another type is none of ours', () => {
  for (const body of ['', 'Signal=', 'Signal=17', 'Signal=x', 'Duration=5', '123', `5${' '.repeat(300)}`]) {
    assert.equal(readDtmfInfo(RELAY_TYPE, body)?.refusal?.status, 400, body);
  }
  assert.equal(readDtmfInfo('application/media_control+xml', '5'), undefined);
  assert.equal(readDtmfInfo(undefined, '5'), undefined);
});

test('a key that is written is the one that is read', () => {
  assert.equal(writeDtmfInfo({ digit: '5', durationMs: 200 }, RELAY_TYPE), 'Signal=5\r\nDuration=200\r\n');
  assert.equal(writeDtmfInfo({ digit: '55', durationMs: 200 }, RELAY_TYPE), undefined);
  const types: DtmfInfoType[] = [RELAY_TYPE, 'application/dtmf'];
  const durations = fc.integer({ min: 40, max: 10_000 });
  fc.assert(
    fc.property(fc.constantFrom(...Array.from('0123456789*#ABCD!')), durations, (digit, durationMs) => {
      for (const type of types) {
        const body = writeDtmfInfo({ digit, durationMs }, type) ?? '';
        assert.deepEqual(readDtmfInfo(type, body)?.value, {
          digit,
          durationMs: type === RELAY_TYPE ? durationMs : 160,
        });
      }
    }),
  );
});

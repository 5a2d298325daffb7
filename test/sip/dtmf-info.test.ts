import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DtmfInfoType, readDtmfInfo, writeDtmfInfo } from '../../sip/session/info-digits.js';

const RELAY = 'application/dtmf-relay';

for (const [type, body, digit, durationMs] of [
  [RELAY, 'Signal=5\r\nDuration=160\r\n', '5', 160],
  [RELAY, 'Signal= 5\nDuration= 100', '5', 100],
  [RELAY, 'signal=*\r\n', '*', 160],
  [RELAY, 'Duration=1\r\nSignal=#\r\n', '#', 40],
  [RELAY, 'Signal=a\r\nDuration=999999', 'A', 10_000],
  [RELAY, 'Signal=10\r\n', '*', 160],
  [RELAY, 'Signal=16\r\n', '!', 160],
  [RELAY, 'Signal=hf\r\n', '!', 160],
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
    assert.equal(readDtmfInfo(RELAY, body)?.refusal?.status, 400, body);
  }
  assert.equal(readDtmfInfo('application/media_control+xml', '5'), undefined);
  assert.equal(readDtmfInfo(undefined, '5'), undefined);
});

test('a key that is written is the one that is read', () => {
  assert.equal(writeDtmfInfo({ digit: '5', durationMs: 200 }, RELAY), 'Signal=5\r\nDuration=200\r\n');
  assert.equal(writeDtmfInfo({ digit: '55', durationMs: 200 }, RELAY), undefined);
  const types: DtmfInfoType[] = [RELAY, 'application/dtmf'];
  const durations = fc.integer({ min: 40, max: 10_000 });
  fc.assert(
    fc.property(fc.constantFrom(...Array.from('0123456789*#ABCD!')), durations, (digit, durationMs) => {
      for (const type of types) {
        const body = writeDtmfInfo({ digit, durationMs }, type) ?? '';
        assert.deepEqual(readDtmfInfo(type, body)?.value, {
          digit,
          durationMs: type === RELAY ? durationMs : 160,
        });
      }
    }),
  );
});

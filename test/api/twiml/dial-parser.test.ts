// <Dial> as it is written by hand: its defaults, and the mistakes that are warnings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTwiml } from '../../../src/api/twiml/twiml-parser.js';
import type { Dial } from '../../../src/ivr/verbs.js';

const URL = 'https://bot.example.com/voice';
const parsed = (body: string) => parseTwiml(`<Response>${body}</Response>`, URL);
const dialOf = (body: string) => parsed(body).verbs[0] as Dial;
const warned = (body: string) => parsed(body).warnings.map(({ code, message }) => `${code} ${message}`);

test('a number as text is called with the defaults of Twilio, and without an action the next verb follows', () => {
  assert.deepEqual(parsed('<Dial>\n  +15550101\n</Dial><Hangup/>').verbs, [
    {
      verb: 'dial',
      targets: [{ to: '+15550101' }],
      isSequential: false,
      ringMs: 30_000,
      talkMs: 14_400_000,
      endsByStar: false,
      callerId: undefined,
      answersLate: false,
      action: undefined,
    },
    { verb: 'hangup' },
  ]);
  assert.deepEqual(warned('<Dial>+15550101</Dial>'), []);
});

test('an address without a scheme is a SIP URI', () => {
  const [target] = dialOf('<Dial><Sip>anna@pbx.example.com;transport=tcp?X-A=1</Sip></Dial>').targets;
  assert.deepEqual(target, { to: 'sip:anna@pbx.example.com;transport=tcp', headers: { 'X-A': '1' } });
});

test('a callback without events is told of the end only', () => {
  const [target] = dialOf('<Dial><Number statusCallback="/s">+1</Number></Dial>').targets;
  assert.deepEqual(target?.states, {
    target: { at: 'https://bot.example.com/s', method: 'POST' },
    told: ['completed'],
  });
});

for (const [record, from] of [
  ['do-not-record', undefined],
  ['false', undefined],
  ['true', 'talk'],
  ['record-from-answer', 'talk'],
  ['record-from-answer-dual', 'talk'],
  ['record-from-ringing', 'ringing'],
  ['record-from-ringing-dual', 'ringing'],
] as const)
  test(`record="${record}" records from ${from ?? 'nowhere'}`, () => {
    assert.equal(dialOf(`<Dial record="${record}">+1</Dial>`).recordsFrom, from);
    assert.deepEqual(warned(`<Dial record="${record}">+1</Dial>`), []);
  });

for (const [body, warnings] of [
  ['<Dial/>', ['13223 <Dial> has nobody to call; it is skipped']],
  ['<Dial><Number/></Dial>', ['13223 <Number> has nobody to call; it is skipped']],
  ['<Dial>+1<Number>+2</Number></Dial>', ['13223 <Dial> has a number and nouns; the number is skipped']],
  [
    '<Dial><Sip>anna</Sip></Dial>',
    ['11100 <Sip> must hold a SIP URI of at most 255 characters; it is skipped'],
  ],
  [
    `<Dial>${'<Number>+1</Number>'.repeat(11)}</Dial>`,
    ['12200 <Dial> calls 10 at most; those behind them are skipped'],
  ],
  [
    `<Dial><Sip>sip:a@b?X-Long=${'a'.repeat(1024)}</Sip></Dial>`,
    ['12200 the header fields of <Sip> may have 1024 characters at most; they are skipped'],
  ],
  [
    '<Dial><Number sendDigits="five">+1</Number></Dial>',
    ['12200 "sendDigits" of <Number> must be at most 64 of 0-9, A-D, #, *, w and W; it is skipped'],
  ],
  [
    '<Dial timeout="4">+1</Dial>',
    ['12200 "timeout" of <Dial> must be a whole number from 5 to 600, not "4"; "30" is used'],
  ],
  [
    '<Dial><Number statusCallbackEvent="rang">+1</Number></Dial>',
    [
      '12200 "statusCallbackEvent" of <Number> must be of initiated, ringing, answered, completed, not "rang"; ' +
        '"completed" is used',
    ],
  ],
] as const)
  test(`${body.slice(0, 60)} is a warning`, () => assert.deepEqual(warned(body), warnings));

test('a client, which this server cannot call by name, leaves the others', () => {
  const body = '<Dial><Client>anna</Client><Number>+1</Number></Dial>';
  assert.deepEqual(dialOf(body).targets, [{ to: '+1' }]);
  assert.match(warned(body)[0] ?? '', /^12200 <Client> is refused: browser calls have no names here/);
});

test('header fields that SIP itself sets are left out of a SIP address', () => {
  const [target] = dialOf('<Dial><Sip>sip:a@b?X-A=1&amp;Contact=y</Sip></Dial>').targets;
  assert.deepEqual(Object.keys(target?.headers ?? {}), ['X-A']);
});

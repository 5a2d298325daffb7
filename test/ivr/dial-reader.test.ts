// The verb that calls others, in a program file and as a tree for people.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPrograms } from '../../src/ivr/program-reader.js';
import { programTree } from '../../src/ivr/program-tree.js';

const read = (dial: unknown) =>
  readPrograms(
    JSON.stringify({ programs: { main: [{ dial }], screen: [{ hangup: {} }], after: [{ say: 'Bye.' }] } }),
  );

const USUAL = {
  verb: 'dial',
  isSequential: false,
  ringMs: 30_000,
  talkMs: 14_400_000,
  endsByStar: false,
  callerId: undefined,
  answersLate: false,
  recordsFrom: undefined,
  action: undefined,
};

test('the short form calls one destination with the usual times', () => {
  assert.deepEqual(read('+491701234567').programs?.get('main'), [
    { ...USUAL, targets: [{ to: '+491701234567', digits: undefined, whisper: undefined }] },
  ]);
});

test('every field of a dial is read', () => {
  const dial = {
    to: ['+491', { to: 'sip:anna@example.com', digits: '1a,', whisper: 'screen' }],
    sequential: true,
    timeout: 12.5,
    limit: 60,
    endKey: '*',
    callerId: '+4930',
    answerLate: true,
    record: 'ringing',
    next: 'after',
  };
  assert.deepEqual(read(dial).programs?.get('main'), [
    {
      verb: 'dial',
      targets: [
        { to: '+491', digits: undefined, whisper: undefined },
        { to: 'sip:anna@example.com', digits: '1A,', whisper: { at: 'screen' } },
      ],
      isSequential: true,
      ringMs: 12_500,
      talkMs: 60_000,
      endsByStar: true,
      callerId: '+4930',
      answersLate: true,
      recordsFrom: 'ringing',
      action: { at: 'after' },
    },
  ]);
});

for (const [dial, problem] of [
  [{}, 'dial.to must be a destination, or a list of 1 to 10'],
  [{ to: [] }, 'dial.to must be a destination, or a list of 1 to 10'],
  [{ to: Array.from({ length: 11 }, () => '+49') }, 'dial.to must be a destination, or a list of 1 to 10'],
  [{ to: [{ digits: '1' }] }, 'dial.to[0].to is missing'],
  [
    { to: [{ to: '+49', digits: 'w' }] },
    'dial.to[0].digits must be a text of 1 to 64 of 0-9, *, #, A-D and ","',
  ],
  [
    { to: [{ to: '+49', whisper: 'none' }] },
    'dial.to[0].whisper must be the name of a program of the file, and "none" is none',
  ],
  [{ to: '+49', timeout: 0 }, 'dial.timeout must be a number from 1 to 600'],
  [{ to: '+49', limit: 14_401 }, 'dial.limit must be a number from 1 to 14400'],
  [{ to: '+49', next: 'none' }, 'dial.next must be the name of a program of the file, and "none" is none'],
] as const)
  test(`a dial is refused with its place: ${JSON.stringify(dial).slice(0, 60)}`, () => {
    assert.deepEqual(read(dial).problems, [`programs.main[0].${problem}`]);
  });

test('a tree shows who is called, in which order, and what follows', () => {
  const dial = { to: ['+491', { to: '+492', whisper: 'screen' }], sequential: true, next: 'after' };
  assert.equal(
    programTree('main', read(dial).programs?.get('main') ?? []),
    `main
├─ dial for 30 s, one after another
│  ├─ +491
│  ├─ +492, who hears screen first
│  └─ afterwards: go to after
└─ hang up, as no verb is left`,
  );
});

// Names of recordings, and texts from outside that are none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { ownerTag, readRecordingName, recordingName } from '../../src/recording/recording-name.js';

const START_MS = Date.UTC(2026, 10, 18, 10, 11, 12, 123);
const CALL = 'call_4f0c19a5-d2b8-4e63-9c1a-0d2f6b8ae41c';
const FACTS = { call: CALL, owner: undefined, startedMs: START_MS, format: 'wav' } as const;

test('a name holds the start, the call, the owner and the format', () => {
  const random = Uint8Array.of(0x5f, 0x0e, 0x6b, 0x21);
  const name = recordingName({ ...FACTS, random });
  assert.equal(name, `20261118T101112123Z_${CALL}_all_5f0e6b21.wav`);
  assert.deepEqual(readRecordingName(name), { name, ...FACTS });
  const owned = recordingName({ ...FACTS, owner: ownerTag('acme'), format: 'opus', random });
  assert.deepEqual(readRecordingName(owned), {
    ...FACTS,
    name: owned,
    owner: ownerTag('acme'),
    format: 'opus',
  });
  assert.notEqual(ownerTag('acme'), ownerTag('acme2'));
});

test('every name that is made is read back, whatever the id of the call is', () => {
  const facts = fc.record({
    call: fc.oneof(fc.string({ maxLength: 60 }), fc.constant(CALL), fc.constant('../../etc/passwd')),
    owner: fc.option(fc.string().map(ownerTag), { nil: undefined }),
    startedMs: fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
    format: fc.constantFrom('wav', 'opus'),
    random: fc.uint8Array({ minLength: 4, maxLength: 4 }),
  });
  fc.assert(
    fc.property(facts, ({ call, random, ...rest }) => {
      const name = recordingName({ call, random, ...rest });
      assert.match(name, /^[\w.-]{40,130}$/);
      assert.ok(!name.includes('..'));
      const read = readRecordingName(name);
      assert.deepEqual({ ...read, call: undefined }, { ...rest, name, call: undefined });
      if (call === CALL) assert.equal(read?.call, CALL);
    }),
  );
});

test('a changed name is no name: other characters, dates that do not exist, paths around it', () => {
  const name = `20261118T101112123Z_${CALL}_all_5f0e6b21.wav`;
  const wrong = [
    '',
    '.',
    '..',
    `../${name}`,
    `./${name}`,
    `/${name}`,
    `${name}/`,
    `${name}/..`,
    `a/${name}`,
    `${name}.part`,
    `${name}\0`,
    `${name}\n`,
    `\n${name}`,
    ` ${name}`,
    name.replace('.wav', '.mp3'),
    name.replace('20261118', '20261318'),
    name.replace('20261118', '20260230'),
    name.replace('_all_', '_../_'),
    name.replace('call_', 'CALL_'),
    name.replaceAll('_', '%5f'),
    name.toUpperCase(),
  ];
  for (const text of wrong) assert.equal(readRecordingName(text), undefined, JSON.stringify(text));
});

test('no text with a separator or a control character is a name', () => {
  const hostile = fc
    .tuple(fc.string(), fc.constantFrom('/', '\\', '\0', '\n', '..', '%2e', '~', ':'), fc.string())
    .map((parts) => parts.join(''));
  fc.assert(fc.property(hostile, (text) => readRecordingName(text) === undefined));
});

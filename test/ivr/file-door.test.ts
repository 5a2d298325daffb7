// The door of programs of a file: what a call gets by names of programs and sounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Door, ProgramCall } from '../../src/ivr/door.js';
import { fileDoor } from '../../src/ivr/file-door.js';
import { type ProgramTable, readPrograms } from '../../src/ivr/program-reader.js';
import type { PlayedSound } from '../../src/speaking/speech-piece.js';

const GOES_ON = new AbortController().signal;
const TUNE: PlayedSound = { samples: new Float32Array(160), sampleRate: 16_000 };
const CALL: ProgramCall = {
  about: {
    id: 'call_1',
    protocol: 'sip',
    owner: undefined,
    direction: 'inbound',
    from: 'sip:alice@example.com',
    to: 'sip:600@example.com',
    displayName: undefined,
    headers: undefined,
    callId: undefined,
    route: undefined,
  },
  isAnswered: false,
  warn: () => assert.fail('a file that was read has no mistakes'),
};

function table(programs: object): ProgramTable {
  return readPrograms(JSON.stringify({ programs })).programs ?? assert.fail();
}

function opened(
  name: string,
  programs: () => ProgramTable,
  sound: (name: string) => Promise<PlayedSound> = async () => TUNE,
): Door {
  const open = fileDoor(name, { programs, sound });
  assert.ok(typeof open !== 'string');
  return open(CALL);
}

const MENU = table({ main: [{ redirect: 'other' }], other: [{ hangup: {} }] });

test('a door begins with its program and follows to others by their names', async () => {
  const door = opened('main', () => MENU);
  assert.deepEqual(await door.begin(GOES_ON), { verbs: MENU.get('main'), warnings: [] });
  const followed = await door.follow({ at: 'other' }, { of: 'redirect' }, GOES_ON);
  assert.deepEqual(followed, { verbs: MENU.get('other'), warnings: [] });
  door.close();
});

test('a program that does not exist opens no door, and the reason names it and the variable', () => {
  assert.equal(
    fileDoor('sales', { programs: () => MENU, sound: async () => TUNE }),
    'there is no call program "sales"; IVR_FILE has the programs of this server',
  );
});

test('a call keeps its programs when the file changes, and a later call gets the new ones', async () => {
  let programs = MENU;
  const door = opened('main', () => programs);
  programs = table({ main: [{ say: 'Moved.' }] });
  assert.deepEqual((await door.follow({ at: 'other' }, { of: 'redirect' }, GOES_ON)).verbs, [
    { verb: 'hangup' },
  ]);
  assert.equal((await opened('main', () => programs).begin(GOES_ON)).verbs[0]?.verb, 'say');
  await assert.rejects(opened('main', () => programs).follow({ at: 'other' }, { of: 'redirect' }, GOES_ON), {
    name: 'ProgramError',
    message: 'there is no call program "other"; IVR_FILE has the programs of this server',
    warning: {
      message: 'there is no call program "other"; IVR_FILE has the programs of this server',
      document: 'other',
    },
  });
});

test('a sound is a file of the library, and one that is none is an error that names it', async () => {
  const asked: string[] = [];
  const door = opened(
    'main',
    () => MENU,
    async (name) => {
      asked.push(name);
      if (name === 'tune.wav') return TUNE;
      throw new Error('there is no such file');
    },
  );
  assert.equal(await door.sound('tune.wav', GOES_ON), TUNE);
  await assert.rejects(door.sound('none.wav', GOES_ON), {
    name: 'ProgramError',
    message: 'the sound "none.wav" cannot be played: there is no such file',
  });
  assert.deepEqual(asked, ['tune.wav', 'none.wav']);
});

test('a call that is over gets neither programs nor sounds', async () => {
  const over = AbortSignal.abort();
  const door = opened('main', () => MENU);
  for (const wait of [
    door.begin(over),
    door.follow({ at: 'other' }, { of: 'redirect' }, over),
    door.sound('tune.wav', over),
  ])
    await assert.rejects(wait, { code: 'ABORTED' });
});

// Disks that are full, forbid writing or accept part of it: the recording ends with its reason, others go on.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync } from 'node:fs';
import { test } from 'node:test';
import { DISK, type RecordingFiles } from '../../src/recording/recording-file.js';
import { noise } from '../audio/tones.js';
import { fileAt, ActiveRecordingsUnderTest } from './active-recordings-under-test.js';
import { in16Bits, interleaved, opusChannels, wavChannels } from './recorded-sound.js';

const SECOND = 16_000; // frames

function refusalOf(code: string): Error {
  return Object.assign(new Error(`${code}: refused`), { code });
}

/** Files that refuse writes to one recording once it has this many bytes. */
function filledAt(bytes: number, code: string): Partial<RecordingFiles> {
  const victims = new Set<number>();
  return {
    create: (path) => {
      const file = DISK.create(path);
      if (path.includes('recording-1.')) victims.add(file);
      return file;
    },
    write: (file, data, position) => {
      const room = victims.has(file) ? bytes - position : Infinity;
      if (room <= 0) throw refusalOf(code);
      return DISK.write(file, data.subarray(0, Math.min(data.length, room)), position);
    },
  };
}

for (const [code, end, name] of [
  ['ENOSPC', 'disk-full', 'DISK_FULL'],
  ['EDQUOT', 'disk-full', 'DISK_FULL'],
  ['EFBIG', 'disk-full', 'DISK_FULL'],
  ['EIO', 'failed', 'RECORDING_FAILED'],
  ['EMFILE', 'failed', 'DESCRIPTORS_EXHAUSTED'],
] as const) {
  test(`${code} in the middle of a piece ends that recording, keeps what came before, and no other one notices`, async (t) => {
    const limit = 44 + 4 * (2 * SECOND + 100); // not at the end of a piece
    const under = new ActiveRecordingsUnderTest(t, filledAt(limit, code));
    const victim = under.open();
    const witness = under.open();
    const sound = noise(5 * SECOND, 0.5, 1);
    witness.ring.write(interleaved(sound, sound));
    under.play(victim.ring, interleaved(sound, sound));
    const result = await under.ended(victim.id);
    assert.deepEqual([result.end, result.error?.code], [end, name]);
    assert.ok(result.error?.message.includes(`(${code})`) === true, result.error?.message);
    assert.ok(!existsSync(victim.path));
    const kept = fileAt(`${victim.path}.part`);
    assert.deepEqual([kept.length, kept.length <= limit], [result.bytes, true]);
    const { caller } = wavChannels(kept);
    assert.ok(caller.length > SECOND, `${caller.length} frames are kept`);
    assert.deepEqual(caller, in16Bits(sound.subarray(0, caller.length)));
    await under.stop(witness.id);
    assert.deepEqual(wavChannels(fileAt(witness.path)).caller, in16Bits(sound));
  });
}

test('a disk whose kernel reports ENOSPC ends the recording as disk-full, and keeps its first piece', async (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const under = new ActiveRecordingsUnderTest(t, {
    write: (file, data, position) => DISK.write(position > SECOND ? full : file, data, position),
  });
  const { id, ring, path } = under.open();
  const sound = noise(3 * SECOND, 0.5, 1);
  under.play(ring, interleaved(sound, sound));
  const { end, error } = await under.ended(id);
  assert.deepEqual([end, error?.code], ['disk-full', 'DISK_FULL']);
  assert.ok(wavChannels(fileAt(`${path}.part`)).caller.length >= SECOND / 2);
});

test('a full disk leaves an Ogg file of whole pages', async (t) => {
  const under = new ActiveRecordingsUnderTest(t, filledAt(15_000, 'ENOSPC'));
  const { id, ring, path } = under.open({ format: 'opus' });
  under.play(ring, interleaved(noise(5 * SECOND), noise(5 * SECOND)));
  const { end, bytes } = await under.ended(id);
  assert.equal(end, 'disk-full');
  const kept = fileAt(`${path}.part`);
  assert.equal(kept.length, bytes);
  assert.ok((await opusChannels(kept)).caller.length >= 48_000 / 2);
});

test('a file that cannot be created ends the recording before it begins', async (t) => {
  for (const [code, end] of [
    ['EACCES', 'failed'],
    ['EROFS', 'failed'],
    ['ENOSPC', 'disk-full'],
  ] as const) {
    const under = new ActiveRecordingsUnderTest(t, {
      create: () => {
        throw refusalOf(code);
      },
    });
    const { id } = under.open();
    const result = under.resultOf(id);
    assert.deepEqual([result?.end, result?.frames, result?.bytes], [end, 0, 0], code);
    assert.ok(!under.posted.some(({ type }) => type === 'opened'));
    assert.equal(under.time.waiting, 0, 'no timer is left');
  }
});

test('a disk without room for the header is named too, and its file is closed', async (t) => {
  let open = 0;
  const under = new ActiveRecordingsUnderTest(t, {
    create: (path) => (open++, DISK.create(path)),
    close: (file) => (open--, DISK.close(file)),
    write: () => {
      throw refusalOf('ENOSPC');
    },
  });
  const { id } = under.open();
  assert.deepEqual([under.resultOf(id)?.end, open], ['disk-full', 0]);
});

test('a disk that takes a few bytes at a time gets every byte once, in order', async (t) => {
  const write: RecordingFiles['write'] = (file, bytes, position) =>
    DISK.write(file, bytes.subarray(0, 997), position);
  const under = new ActiveRecordingsUnderTest(t, { write });
  const { id, ring, path } = under.open();
  const sound = noise(2 * SECOND, 0.5, 2);
  under.play(ring, interleaved(sound, sound));
  await under.stop(id);
  assert.deepEqual(wavChannels(fileAt(path)).ours, in16Bits(sound));
});

test('a disk that accepts nothing, without an error, ends the recording', async (t) => {
  let accepts = true;
  const write: RecordingFiles['write'] = (file, bytes, position) =>
    accepts ? DISK.write(file, bytes, position) : 0;
  const under = new ActiveRecordingsUnderTest(t, { write });
  const { id, ring } = under.open();
  accepts = false;
  under.play(ring, interleaved(noise(2 * SECOND), noise(2 * SECOND)));
  const { end, error } = await under.ended(id);
  assert.deepEqual([end, error?.message], ['failed', 'the recording cannot be written (EIO)']);
});

test('what fails at the very end is reported like the rest, and closes each file once', async (t) => {
  for (const step of ['sync', 'rename'] as const) {
    const closed: number[] = [];
    const under = new ActiveRecordingsUnderTest(t, {
      close: (file) => {
        closed.push(file);
        DISK.close(file);
      },
      [step]: () => {
        throw refusalOf('ENOSPC');
      },
    });
    const { id, ring, path } = under.open();
    ring.write(interleaved(noise(SECOND), noise(SECOND)));
    const { end, frames } = await under.stop(id);
    assert.deepEqual([end, frames, closed.length], ['disk-full', SECOND, 1], step);
    assert.equal(wavChannels(fileAt(`${path}.part`)).caller.length, SECOND, step);
  }
});

test('after a full disk the next recording begins only where there is room, and leaves no file before', (t) => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG']) {
    let room = 100_000;
    const under = new ActiveRecordingsUnderTest(t, {
      write: (file, data, position) => {
        if (position + data.length > room) throw refusalOf(code);
        return DISK.write(file, data, position);
      },
    });
    const first = under.open();
    under.play(first.ring, interleaved(noise(3 * SECOND), noise(3 * SECOND)));
    assert.equal(under.resultOf(first.id)?.end, 'disk-full', code);
    for (let count = 0; count < 2; count++) {
      const { id, path } = under.open();
      assert.deepEqual(
        [under.resultOf(id)?.end, under.resultOf(id)?.error?.code],
        ['disk-full', 'DISK_FULL'],
      );
      assert.deepEqual([existsSync(path), existsSync(`${path}.part`)], [false, false], code);
    }
    room = 2 ** 30;
    const last = under.open();
    assert.deepEqual([under.resultOf(last.id), fileAt(`${last.path}.part`).length], [undefined, 44], code);
  }
});

test('a recording does not begin on a disk that has no room for seconds of it', (t) => {
  let room = 512 * 1024 - 1;
  const under = new ActiveRecordingsUnderTest(t, { room: () => room });
  const refused = under.open();
  const { end, error } = under.resultOf(refused.id) ?? {};
  assert.deepEqual([end, error?.code, existsSync(`${refused.path}.part`)], ['disk-full', 'DISK_FULL', false]);
  room++;
  assert.equal(under.resultOf(under.open().id), undefined);
});

// The file of call programs on disk: its reading at the start, and again after each change.
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { ProgramFile, programsIn, textOfFile } from '../../src/ivr/program-file.js';
import type { Log } from '../../src/log.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';

const POLL_MS = 1000;

interface Line {
  readonly level: 'info' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A file with one program, the reader of it, and the lines of its log. */
function fileOf(t: TestContext, text: string) {
  const path = join(temporaryFolder(t), 'menus.json');
  writeFileSync(path, text);
  const lines: Line[] = [];
  const log: Log = {
    debug: () => undefined,
    warn: () => undefined,
    info: (fields, message) => lines.push({ level: 'info', fields, message }),
    error: (fields, message) => lines.push({ level: 'error', fields, message }),
  };
  const time = new ManualTime();
  const file = new ProgramFile(path, log, { notified: false, pollMs: POLL_MS, time });
  t.after(() => file.close());
  const changed = async (content: string) => {
    const before = lines.length;
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
    time.advance(POLL_MS);
    await until(() => lines.length === before + 1);
    await until(() => time.waiting === 1); // the next poll
    return lines.at(-1);
  };
  return { path, file, time, changed };
}

const saying = (text: string) => JSON.stringify({ programs: { main: [{ say: text }] } });

function textOf(file: ProgramFile): string | undefined {
  const [verb] = file.programs.get('main') ?? [];
  return verb?.verb === 'say' ? verb.text : undefined;
}

test('a changed file counts for later calls, and a call keeps the programs that it began with', async (t) => {
  const { file, changed } = fileOf(t, saying('one'));
  await file.open();
  const begun = file.programs;
  assert.equal(textOf(file), 'one');
  assert.deepEqual(await changed(saying('two')), {
    level: 'info',
    fields: { programs: 1 },
    message: 'call programs read again',
  });
  assert.equal(textOf(file), 'two');
  assert.deepEqual(
    begun.get('main')?.map((verb) => verb.verb === 'say' && verb.text),
    ['one'],
  );
});

test('a changed file with mistakes is logged, and the programs stay as they were', async (t) => {
  const { path, file, changed } = fileOf(t, saying('one'));
  await file.open();
  assert.deepEqual(await changed('{"programs": {"main": [{"say": ""}]}}'), {
    level: 'error',
    fields: {
      detail: `(${path}) is not usable:\n- programs.main[0].say.text must be a text of 1 to 5000 characters`,
    },
    message: 'call programs stay as they were',
  });
  assert.equal(textOf(file), 'one');
  assert.equal((await changed(saying('two')))?.level, 'info', 'a mended file counts');
  assert.equal(textOf(file), 'two');
});

test('the start fails with every mistake of the file, and nothing is watched any more', async (t) => {
  const { path, file, time } = fileOf(t, '{"programs": {"main": [{"say": ""}, {"pause": 0}]}}');
  await assert.rejects(file.open(), {
    code: 'CONFIG_INVALID',
    message: `IVR_FILE (${path}) is not usable:
- programs.main[0].say.text must be a text of 1 to 5000 characters
- programs.main[1].pause.seconds must be a number from 0.1 to 600`,
  });
  assert.equal(time.waiting, 0);
});

test('a file with countless mistakes shows the first fifty and the number of the others', () => {
  const main = Array.from({ length: 60 }, () => ({ say: '' }));
  const text = JSON.stringify({ programs: { main } });
  assert.throws(
    () => programsIn(text, 'menus.json'),
    (error) => {
      assert.ok(error instanceof ParleyError);
      const lines = error.message.split('\n');
      assert.deepEqual([lines.length, lines.at(-1)], [52, '- … and 10 more']);
      return true;
    },
  );
});

test('a file that is missing, a folder or too long is refused by its path', async (t) => {
  const { path } = fileOf(t, ' '.repeat(1024 * 1024 + 1));
  const messageOf = (name: string) => textOfFile(name).catch((error: unknown) => (error as Error).message);
  assert.equal(await messageOf(path), `(${path}) must have at most 1048576 bytes`);
  assert.equal(await messageOf(`${path}.none`), `(${path}.none) cannot be read: ENOENT`);
  assert.equal(await messageOf(join(path, '..')), `(${join(path, '..')}) cannot be read: EISDIR`);
  writeFileSync(path, saying('one').padEnd(1024 * 1024));
  assert.equal((await textOfFile(path)).length, 1024 * 1024, 'a file of just that length is read');
});

test('the example programs are there, unless the file has programs of their names', async (t) => {
  const { file, changed } = fileOf(t, saying('one'));
  await file.open();
  assert.equal(file.programs.get('example')?.length, 4);
  await changed(JSON.stringify({ programs: { example: [{ hangup: {} }] } }));
  assert.equal(file.programs.get('example')?.length, 1);
});

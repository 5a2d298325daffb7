// The types of public/parley.js are JSDoc: the module keeps to them, and programs that use it are checked.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const MODULE = join(ROOT, 'public/parley.js');
const OPTIONS = [
  ...'--ignoreConfig --noEmit --allowJs --checkJs --strict --target es2023'.split(' '),
  ...'--lib es2023,dom,dom.iterable --module es2022 --moduleResolution bundler'.split(' '),
  '--types',
  '',
];

/** The errors that the compiler finds in a file and what it imports. */
function errorsIn(file: string): string[] {
  const { stdout, error } = spawnSync(process.execPath, [COMPILER, ...OPTIONS, file], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

function errorsOf(t: TestContext, program: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'parley-types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'page.ts');
  writeFileSync(file, `import { Parley } from ${JSON.stringify(MODULE)};\n${program}`);
  return errorsIn(file).map((line) => /error (TS\d+)/.exec(line)?.[1] ?? line);
}

test('the module and the files that it imports keep to their types', () => {
  assert.deepEqual(errorsIn(MODULE), []);
});

test('a program that uses the module well compiles', (t) => {
  const program = `
    const call = await Parley.call({ url: '/', microphone: 'optional', on: { error: ({ code }) => code.length } });
    const stop: () => void = call.on('caption', ({ who, text, isFinal }) => {
      const line: string = (isFinal ? who : 'caller') + text;
      document.title = line;
    });
    call.on('word', ({ start, end }) => start + end);
    call.on('words', ({ words }) => words.map(({ word, startMs, endMs = startMs }) => word.length + endMs));
    call.on('microphone', (stream) => stream?.getTracks());
    const isSent: boolean = call.say('Hello.', { voice: 'slt', interruptible: 'speech' });
    const agent: string | undefined = call.agent;
    if (isSent && agent !== undefined) call.prompt('Hi.');
    stop();
    call.interrupt();
    call.hangUp();
    export {};`;
  assert.deepEqual(errorsOf(t, program), []);
});

for (const [mistake, program, code] of [
  ['an option that there is not', `await Parley.call({ urls: '/' });`, 'TS2561'],
  ['an event that there is not', `(await Parley.call()).on('captions', () => undefined);`, 'TS2345'],
  [
    'a field that the event has not',
    `(await Parley.call()).on('caption', (caption) => caption.words);`,
    'TS2339',
  ],
  [
    'an input that interrupts nothing',
    `(await Parley.call()).say('Hi.', { interruptible: 'voice' });`,
    'TS2322',
  ],
  ['a text that is a number', `(await Parley.call()).say(5);`, 'TS2345'],
] as const) {
  test(`the compiler finds ${mistake}`, (t) => {
    assert.deepEqual(errorsOf(t, `${program}\nexport {};`), [code]);
  });
}

// `npm run bench` and `npm run soak`: each program has a name, a file and a line, and each name that a
// document or a comment gives is one of them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { argvOf, isKind, listOf, pathOf, programOf, PROGRAMS, type Kind } from './programs.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const RUN = join(import.meta.dirname, 'run.js');
const KINDS: readonly Kind[] = ['bench', 'soak'];
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const run = (...args: readonly string[]) => spawnSync(process.execPath, [RUN, ...args], { encoding: 'utf8' });

test('every program of test/bench has a name, and every name a program', () => {
  const files = readdirSync(join(ROOT, 'test/bench'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?:\.bench|-soak)\.ts$/.test(file))
    .map((file) => file.replace(/\.ts$/, '.js'));
  const programs = KINDS.flatMap((kind) => Object.values(PROGRAMS[kind]));
  assert.deepEqual(programs.map(({ file }) => file).toSorted(), files.toSorted());
  for (const program of programs) assert.ok(existsSync(pathOf(program)), program.file);
});

test('without a name the command lists the names, one line each', () => {
  for (const kind of KINDS) {
    const { status, stdout } = run(kind);
    assert.equal(status, 0);
    const names = Array.from(stdout.matchAll(/^ {2}npm run (\w+ -- [\w-]+) {2,}\S.+$/gm), ([, line]) => line);
    assert.deepEqual(
      names,
      Object.keys(PROGRAMS[kind]).map((name) => `${kind} -- ${name}`),
    );
    assert.equal(stdout.split('\n').length - 1, names.length);
  }
});

test('an unknown name is refused with the list, also a name that every object has', () => {
  for (const name of ['pasing', 'constructor', '--quick']) {
    const { status, stdout, stderr } = run('bench', name);
    assert.equal(status, 64);
    assert.equal(stdout, '');
    assert.equal(
      stderr,
      `There is no bench of the name ${JSON.stringify(name)}. Allowed are:\n${listOf('bench')}`,
    );
  }
});

test('a program finds the arguments behind its name where Node puts those of a file', () => {
  const program = programOf('soak', 'sip') ?? assert.fail('there is no such soak');
  const argv = argvOf(program, '/usr/bin/node', ['--rate', '60']);
  assert.deepEqual(argv, ['/usr/bin/node', pathOf(program), '--rate', '60']);
});

test('six script lines at most are for benches and soaks, and both compile the sources first', () => {
  const names = Object.keys(scripts).filter((name) => /bench|soak/.test(name));
  assert.ok(names.length <= 6, names.join(', '));
  for (const kind of KINDS) {
    assert.equal(scripts[kind], `npm run -s build && node dist/test/bench/run.js ${kind}`);
  }
});

test('every bench that a document, a comment or a page of figures names can be run by that name', () => {
  const tracked = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.cc', '*.h', '*.cu', '*.sh'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const named = tracked
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(ROOT, file)) && file !== posix.join('test/bench', 'programs.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const commands = [...text.matchAll(/npm run (bench|soak) -- ([\w-]+)/g)];
      const old = [...text.matchAll(/\b(bench|soak):[a-z][\w-]*/g)];
      return [
        ...commands.map(([command, kind, name = '']) => ({ file, command, kind, name })),
        ...old.map(([command]) => ({ file, command, kind: undefined, name: '' })),
      ];
    });
  assert.ok(named.length > 60, `${named.length} names`);
  const unknown = named.filter(({ kind, name }) => !isKind(kind) || programOf(kind, name) === undefined);
  assert.deepEqual(
    unknown.map(({ file, command }) => `${file}: ${command}`),
    [],
  );
});

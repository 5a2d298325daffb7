// The packages of production: their licences in NOTICE, and the install scripts that npm may run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(text('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const NOTICE = text('NOTICE');
const INSTALLED = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

/** The lines of one section of NOTICE, without the empty ones. */
function sectionOf(title: string): readonly string[] {
  const [, after = ''] = NOTICE.split(`\n${title}\n${'='.repeat(title.length)}\n`);
  const [section = ''] = after.split(/\n\n.+\n=+\n/);
  return section.split('\n').filter((line) => line !== '');
}

test('NOTICE lists every production package with its licence, and no other package', () => {
  const licences = new Map<string, Set<string>>();
  for (const [path, { license = 'no licence stated' }] of INSTALLED) {
    const known = licences.get(nameOf(path)) ?? new Set();
    licences.set(nameOf(path), known.add(license));
  }
  const expected = [...licences].map(([name, all]) => `${name}  ${[...all].toSorted().join(', ')}`);
  const listed = sectionOf('Packages').map((line) => line.replace(/ {2,}/, '  '));
  assert.ok(listed.length > 200, `${listed.length} packages`);
  assert.deepEqual(listed, expected.toSorted());
});

test('NOTICE has the holder of each package that brings no file of its licence', () => {
  const without = INSTALLED.filter(([path]) => existsSync(join(ROOT, path)))
    .filter(([path]) => !readdirSync(join(ROOT, path)).some((file) => /^(?:licen[sc]e|copying)/i.test(file)))
    .map(([path]) => nameOf(path));
  const lines = sectionOf('Packages without a file of their licence');
  const named = lines.flatMap((line) => /^(\S+) +Copyright /.exec(line)?.[1] ?? []);
  assert.deepEqual(named, without.toSorted());
});

test('NOTICE says how the terms of every licence with copyleft are met', () => {
  const copyleft = INSTALLED.filter(([, { license = '' }]) => /GPL|MPL|EPL|CDDL|BSD-4/.test(license));
  const said = sectionOf('Packages whose licence asks for more than its text');
  const missing = copyleft
    .map(([path]) => nameOf(path))
    .filter((name) => !said.some((line) => line === name || line.startsWith(`${name} `)));
  assert.deepEqual(missing, []);
});

test('the decoder under the LGPL stays a package of its own, which another version can replace', () => {
  const copies = INSTALLED.filter(([path]) => nameOf(path) === 'codec-parser').map(([path]) => path);
  assert.deepEqual(copies, ['node_modules/codec-parser']);
  for (const source of [
    'node_modules/@wasm-audio-decoders/flac/src/FLACDecoder.js',
    'node_modules/ogg-opus-decoder/src/OggOpusDecoder.js',
  ]) {
    assert.match(text(source), /from "codec-parser";/, source);
  }
});

test('npm runs no install script that downloads: of the packages of production, only Opus has one', () => {
  // onnxruntime-node has one, which would download CUDA libraries. npm runs the scripts of packages whose
  // entry in the lock file has `hasInstallScript`. npm puts it back when the package is updated.
  const scripts = INSTALLED.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  assert.deepEqual(
    scripts.map(([path]) => nameOf(path)),
    ['@discordjs/opus'],
  );
});

test('npm warns of no setting that it does not know', () => {
  const names = Object.keys(process.env).filter((name) => !name.toLowerCase().startsWith('npm_'));
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const options = { cwd: ROOT, env, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync('npm', ['pkg', 'get', 'name', '--no-update-notifier'], options);
  assert.equal(status, 0);
  assert.equal(stderr, '');
});

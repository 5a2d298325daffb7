import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..');

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

test('npm start builds the server alone, with nothing that `npm ci --omit=dev` leaves out', () => {
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  );
  const list = execFileSync(
    process.execPath,
    [compiler, '-p', join(ROOT, 'tsconfig.build.json'), '--listFilesOnly'],
    { encoding: 'utf8', maxBuffer: 2 ** 24 },
  );
  const files = list
    .split('\n')
    .filter(Boolean)
    .map((path) => relative(ROOT, path));
  const own = files.filter((path) => !path.startsWith('node_modules/'));
  assert.ok(own.includes('src/main.ts'));
  assert.deepEqual(
    own.filter((path) => !/^(?:src|sip|signaling)\//.test(path)),
    [],
  );
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const development = Object.keys(packages).filter((folder) => packages[folder]?.dev === true);
  assert.ok(development.includes('node_modules/playwright-core'));
  assert.deepEqual(
    files.filter((path) => development.some((folder) => path.startsWith(`${folder}/`))),
    [],
  );
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  assert.match(scripts['prestart'] ?? '', /&& npm run -s build:server$/);
  assert.equal(scripts['build:server'], 'tsc -p tsconfig.build.json');
});

// Builds and runs the native tests, which need no Node: plain and under the sanitizers, each with CMake and
// ctest. The plain tests use the libraries of the addon, in its build folder. The sanitizers have folders of
// their own, which are kept between runs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Part } from './test-selection.js';

export interface Tally {
  readonly passed: number;
  /** Names of the failed tests. */
  readonly failures: readonly string[];
}

const ADDON = 'build'; // the folder of `npm run build:native`
const BUILD_LIMIT_MS = 1_500_000; // a build from nothing under a sanitizer on two busy cores
const RUN_LIMIT_MS = 600_000;
const ONE_TEST_LIMIT_S = 60;
const LONG_RUN_LIMIT_MS = 4 * 3_600_000;
const LONG_TEST_LIMIT_S = 3600;

/** Whole models and long lists of shapes on emulated GPUs, for 10 to 30 seconds each. */
const LONGEST = '^cuda_(convolutions|layers|models|recognition|speech)$';

/**
 * The builds of each part: the plain one without its longest tests for `npm test`; those, and the builds that
 * look for faults, for the rest of `npm run test:full`; and what takes an hour for `npm run test:long`.
 *
 * The sanitizers' builds of `rest` leave out the longest tests of the speech engine, and ThreadSanitizer's
 * has those in which threads meet and some of emulated threads (native/test/emulator/race_check.h). Their
 * fuzzers run briefly.
 */
const BUILDS: Readonly<Record<Part, readonly Build[]>> = {
  quick: [{ folder: ADDON, sanitize: '', speech: 'ON', choice: ['--exclude-regex', LONGEST] }],
  rest: [
    { folder: ADDON, sanitize: '', speech: 'ON', choice: ['--tests-regex', LONGEST] },
    { folder: 'build-test-memory', sanitize: 'address,undefined', speech: 'LESS', choice: [] },
    { folder: 'build-test-threads', sanitize: 'thread', speech: 'THREADS', choice: [] },
  ],
  long: [
    { folder: 'build-long-memory', sanitize: 'address,undefined', speech: 'ON', choice: [] },
    { folder: 'build-long-races', sanitize: 'thread', speech: 'RACES', choice: [] },
  ],
};

export async function runNativeTests(root: string, part: Part): Promise<Tally> {
  const tallies: Tally[] = [];
  for (const build of BUILDS[part]) tallies.push(await runBuild(root, build, part === 'long'));
  return sumOf(tallies);
}

interface Build {
  readonly folder: string;
  readonly sanitize: string;
  /** Tests of the speech engine. */
  readonly speech: string;
  /** The choice of ctest among the tests. */
  readonly choice: readonly string[];
}

async function runBuild(
  root: string,
  { folder, sanitize, speech, choice }: Build,
  isLong: boolean,
): Promise<Tally> {
  const build = join(root, 'native', folder);
  const options = [
    '-DCMAKE_BUILD_TYPE=Release',
    `-DPARLEY_SANITIZE=${sanitize}`,
    `-DPARLEY_SPEECH=${speech}`,
    '-DPARLEY_TESTS=ON',
  ];
  await quiet(join(root, 'native', 'drop-moved-build.sh'), [build], BUILD_LIMIT_MS);
  // CMake alone would configure the folder without the addon, and cmake-js would find it configured.
  if (folder === ADDON && !existsSync(join(build, 'CMakeCache.txt')))
    throw new Error('the addon is not compiled; run: npm run build:native');
  const configure = ['-S', join(root, 'native'), '-B', build, ...options];
  await quiet('cmake', configure, BUILD_LIMIT_MS);
  const parallel = ['--parallel', String(availableParallelism())];
  await quiet('cmake', ['--build', build, '--target', 'tests', ...parallel], BUILD_LIMIT_MS);
  const limit = ['--timeout', String(isLong ? LONG_TEST_LIMIT_S : ONE_TEST_LIMIT_S)];
  const arguments_ = ['--test-dir', build, '--output-on-failure', ...limit, ...choice, ...parallel];
  const { output } = await command('ctest', arguments_, isLong ? LONG_RUN_LIMIT_MS : RUN_LIMIT_MS);
  process.stdout.write(output);
  return tallyOf(folder, output);
}

export const sumOf = (tallies: readonly Tally[]): Tally => ({
  passed: tallies.reduce((sum, { passed }) => sum + passed, 0),
  failures: tallies.flatMap(({ failures }) => failures),
});

/**
 * Reads "75% tests passed, 1 tests failed out of 4" and the list of failed tests, in lines such as
 * "3 - queue_test (Timeout)".
 */
function tallyOf(folder: string, ctestOutput: string): Tally {
  const match = /(\d+) tests? failed out of (\d+)/.exec(ctestOutput);
  if (match === null) return { passed: 0, failures: [`${folder}: ctest gives no count`] };
  const from = ctestOutput.lastIndexOf('\nThe following tests FAILED:');
  const list = from < 0 ? '' : ctestOutput.slice(from);
  const named = [...list.matchAll(/\d+ - (\S+ \(.+\))/g)].map(([, name]) => `${folder}: ${name}`);
  const [failed, count] = [Number(match[1]), Number(match[2])];
  const unnamed = Array.from(
    { length: failed - named.length },
    () => `${folder}: a test that ctest does not name`,
  );
  return { passed: count - failed, failures: [...named, ...unnamed] };
}

async function quiet(program: string, arguments_: readonly string[], limitMs: number): Promise<void> {
  const { code, output } = await command(program, arguments_, limitMs);
  if (code === 0) return;
  process.stdout.write(output);
  throw new Error(`${program} ${arguments_[0]} ended with ${code}`);
}

function command(
  program: string,
  arguments_: readonly string[],
  limitMs: number,
): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, arguments_, { stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? signal ?? 'no code', output }));
  });
}

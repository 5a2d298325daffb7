// Runs the tests: the native ones, then those of TypeScript, and ends with the
// names of those that failed and one line that counts all.
//
//   npm test                    everything
//   npm test -- text rtp/opus   the files whose path holds one of the words; "native" for the native ones
//
// Node 20 cannot be handed a folder: it would run the fakes as tests, too. So
// the list is made here, from the sources, and a test whose source is gone is
// not run although its old output may still lie in dist/.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { runNativeTests, sumOf, type Tally } from './native-tests.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const FILE_LIMIT_MS = 240_000; // the longest file: twenty calls of a headless browser
const CONCURRENCY = 2;

// These measure time or start a browser: beside others they would fail for the
// machine's sake, so they run one after the other when the rest is done.
const ALONE = /^test\/(?:interop|timing)\//;
// Of those, these mostly wait for a telephone that speaks at its own pace.
const WAITING = /^test\/interop\/telephone\/(?!first-sound)/;

function testFiles(words: readonly string[]): string[] {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((path) => join('test', path))
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
    .toSorted();
}

function compiled(source: string): string {
  const output = join(ROOT, 'dist', source.replace(/\.ts$/, '.js'));
  if (!existsSync(output)) throw new Error(`${source} is not compiled; run: npm run build`);
  return output;
}

async function runFiles(sources: readonly string[], concurrency: number): Promise<Tally> {
  let passed = 0;
  const failures: string[] = [];
  if (sources.length === 0) return { passed, failures };
  const events = run({ files: sources.map(compiled), concurrency, timeout: FILE_LIMIT_MS });
  events.on('test:pass', ({ details }) => {
    if (details.type !== 'suite') passed++;
  });
  events.on('test:fail', ({ details, name, file }) => {
    if (details.type !== 'suite')
      failures.push(`${file === undefined ? '' : `${relative(ROOT, file)}: `}${name}`);
  });
  for await (const line of events.compose(new spec())) process.stdout.write(String(line));
  return { passed, failures };
}

async function native(words: readonly string[]): Promise<Tally> {
  if (words.length > 0 && !words.includes('native')) return { passed: 0, failures: [] };
  try {
    return sumOf([await runNativeTests(ROOT, 'plain'), await runNativeTests(ROOT, 'checked')]);
  } catch (error) {
    console.error(error);
    return { passed: 0, failures: ['the native tests, which could not be run'] };
  }
}

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const sources = testFiles(words);
  const { passed, failures } = sumOf([
    await native(words),
    await runFiles(sources.filter((source) => !ALONE.test(source)), CONCURRENCY),
    await runFiles(sources.filter((source) => WAITING.test(source)), CONCURRENCY),
    await runFiles(sources.filter((source) => ALONE.test(source) && !WAITING.test(source)), 1),
  ]); // prettier-ignore
  for (const name of failures) console.log(`\n✖ ${name}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  if (failures.length > 0 || passed === 0) process.exitCode = 1;
}

await main();

// Runs the tests: the native ones, then those of TypeScript. It ends with the
// names of the tests that failed and one line that counts all.
//
//   npm test                       the quick tests
//   npm run test:full              all tests
//   npm run test:full -- --rest    the tests that `npm test` leaves out
//   npm run test:long              endurance, long fuzzing and further peers, for an hour or two
//   npm test -- text rtp/opus      the files whose path holds one of the words; "native" for the native tests
//   npm test -- --changed          the quick tests that the difference from HEAD can reach
//   npm test -- --changed=main     the same for the difference from a revision
//
// Node 20 cannot be handed a folder: it would run the fakes as tests, too. So
// the list is made here, from the sources, and a test whose source is gone is
// not run although its old output may still lie in dist/.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LONG_RUN } from './fakes/long-run.js';
import { runNativeTests, sumOf, type Tally } from './native-tests.js';
import { changedSince, partsOf, reachOf, readSources, type Part } from './test-selection.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const FILE_LIMIT_MS = 240_000; // the longest file: twenty calls of a headless browser
const LONG_FILE_LIMIT_MS = 4 * 3_600_000; // some files have several fuzzers
const CONCURRENCY = availableParallelism();
const MOST_SHOWN = 15; // of the slowest files
const MOST_REASON_LINES = 12;

// These measure time, compare sounds that are sent in real time, or start a browser. Beside others they would
// fail because the machine is busy, so they run one after the other when the rest is done.
const ALONE = /^test\/(?:interop\/|telephone\/(?:campaign|joined-legs|joined-sockets|room-agents)\.)/;
// These of them mostly wait: for a telephone that speaks in real time, or for a page. They run side by side.
const PAGES = '(?:\\w+-)?page|playground|\\w+-module|code-samples|agent-examples|qwen3-server';
const WAITING = new RegExp(`^test/interop/(?:telephone/(?!first-sound)|(?:${PAGES})\\.)`);

function compiled(source: string): string {
  const output = join(ROOT, 'dist', source.replace(/\.ts$/, '.js'));
  if (!existsSync(output)) throw new Error(`${source} is not compiled; run: npm run build`);
  return output;
}

/** Milliseconds of the tests of each file, and of the native tests. */
const spent = new Map<string, number>();

function spend(name: string, ms: number): void {
  spent.set(name, (spent.get(name) ?? 0) + ms);
}

/** The beginning of what a failed test says, so that the summary alone tells why. */
function reasonOf({ cause, message }: Error): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : message;
  return text.split('\n').slice(0, MOST_REASON_LINES).join('\n  ');
}

async function runFiles(
  sources: readonly string[],
  concurrency: number,
  timeout = FILE_LIMIT_MS,
): Promise<Tally> {
  let passed = 0;
  const failures: string[] = [];
  if (sources.length === 0) return { passed, failures };
  const events = run({ files: sources.map(compiled), concurrency, timeout });
  const nameOf = (file: string | undefined) => (file === undefined ? '' : relative(ROOT, file));
  events.on('test:pass', ({ details, file, nesting }) => {
    if (details.type !== 'suite') passed++;
    if (nesting === 0) spend(nameOf(file), details.duration_ms);
  });
  events.on('test:fail', ({ details, name, file, nesting }) => {
    const where = file === undefined ? '' : `${nameOf(file)}: `;
    if (details.type !== 'suite') failures.push(`${where}${name}\n  ${reasonOf(details.error)}`);
    if (nesting === 0) spend(nameOf(file), details.duration_ms);
  });
  for await (const line of events.compose(new spec())) process.stdout.write(String(line));
  return { passed, failures };
}

interface Choice {
  readonly sources: readonly string[];
  readonly native: boolean;
  readonly parts: readonly Part[];
  /** True if the run is limited to what a difference can reach, which may be no test at all. */
  readonly byDifference: boolean;
}

function chosenParts(values: { long: boolean; rest: boolean; full: boolean }): readonly Part[] {
  if (values.long) return ['long'];
  if (values.rest) return ['rest'];
  return values.full ? ['quick', 'rest'] : ['quick'];
}

/** Reads the command line; an option that it does not know ends the program with the reason. */
function choice(): Choice {
  const { values, positionals: words } = parseArgs({
    args: process.argv.slice(2).map((word) => (word === '--changed' ? '--changed=HEAD' : word)),
    options: {
      full: { type: 'boolean', default: false },
      rest: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      changed: { type: 'string' },
    },
    allowPositionals: true,
  });
  const parts = chosenParts(values);
  const sources = readSources(ROOT);
  const reach =
    values.changed === undefined ? undefined : reachOf(changedSince(ROOT, values.changed), sources);
  const files = reach?.files ?? [...sources.keys()].filter((path) => path.endsWith('.test.ts'));
  return {
    // A file that is asked for by name runs whichever part it belongs to.
    sources: files.filter((path) =>
      words.length > 0
        ? words.some((word) => path.includes(word))
        : partsOf(path).some((part) => parts.includes(part)),
    ),
    native: (words.length === 0 || words.includes('native')) && (reach?.native ?? true),
    parts,
    byDifference: reach !== undefined,
  };
}

async function native({ native: wanted, parts }: Choice): Promise<Tally> {
  if (!wanted) return { passed: 0, failures: [] };
  const began = performance.now();
  try {
    const tallies: Tally[] = [];
    for (const part of parts) tallies.push(await runNativeTests(ROOT, part));
    spend('the native tests, compiled and run', performance.now() - began);
    return sumOf(tallies);
  } catch (error) {
    console.error(error);
    return { passed: 0, failures: ['the native tests, which could not be run'] };
  }
}

/** The slowest files, so that those who add tests see where the time goes. */
function showSlowest(): void {
  const slowest = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, MOST_SHOWN);
  console.log(`\nslowest of ${spent.size} files:`);
  for (const [name, ms] of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
}

async function main(): Promise<void> {
  const chosen = choice();
  const { sources, parts } = chosen;
  const isLong = parts.includes('long');
  if (isLong) process.env = { ...LONG_RUN, ...process.env };
  const limitMs = isLong ? LONG_FILE_LIMIT_MS : FILE_LIMIT_MS;
  const run = (choose: (source: string) => boolean, concurrency: number) =>
    runFiles(sources.filter(choose), concurrency, limitMs);
  const { passed, failures } = sumOf([
    await native(chosen),
    await run((source) => !ALONE.test(source), CONCURRENCY),
    await run((source) => WAITING.test(source), CONCURRENCY),
    await run((source) => ALONE.test(source) && !WAITING.test(source), 1),
  ]);
  showSlowest();
  for (const name of failures) console.log(`\n✖ ${name}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  const nothingToDo = chosen.byDifference && sources.length === 0 && !chosen.native;
  if (nothingToDo) console.log('The difference reaches no test.');
  if (failures.length > 0 || (passed === 0 && !nothingToDo)) process.exitCode = 1;
}

await main();

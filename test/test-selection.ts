// Chooses the test files of a run: the quick set of `npm test`, the rest of `npm run test:full`, the long set
// of `npm run test:long`, by words of their path, or by what a diff can reach.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * `quick` is what `npm test` runs, and `rest` is what `npm run test:full` adds to it. `long` is what `npm run
 * test:long` runs: peers beside those of `rest`, and fuzzers and endurance tests that `rest` runs briefly.
 */
export type Part = 'quick' | 'rest' | 'long';

/** Tests left to `npm run test:full`. */
const REST = [
  /^test\/(?:interop|clients)\//, // browsers, telephones, clients of other makers
  /^test\/telephone\//, // a whole server called by telephones
  /fuzz[\w-]*\.test\.ts$/, // long random input
  /^test\/gpu-\w+\.test\.ts$/, // a whole server for each case
  /^test\/(?:container|docker-\w+|server-build)\.test\.ts$/, // files of the image
  /^test\/hearing\/echo-endurance\.test\.ts$/, // ten minutes of sound for each case, through the model
  /^test\/engines\/moonshine\/moonshine-endurance\.test\.ts$/, // minutes of sound of eight callers
  /^test\/flooded-server\.test\.ts$/, // a server in a process of its own, flooded for seconds
  /^test\/speak-command\.test\.ts$/, // a process and an engine for each command
  /^test\/(?:docs\/commands|dev-script)\.test\.ts$/, // the commands of the documents; a watching compiler
  /^test\/(?:speaking\/audio-formats|codecs\/(?:containers|g722|mp3))\.test\.ts$/, // decoded by ffmpeg
  /^test\/transcribing\/sound-decoders\.test\.ts$/, // sounds of every kind, made by ffmpeg
  /^test\/(?:speaking\/redis-tier|api\/openai\/shared-renderings)\.test\.ts$/, // a Redis server
];

/** Tests left to `npm run test:long`. */
const LONG = [
  /^test\/interop\/(?:aiortc|gstreamer|libdatachannel)\.test\.ts$/, // browser calls without a browser
];

/** Tests whose length test/fakes/long-run.ts decides. */
const SCALED = [
  /fuzz[\w-]*\.test\.ts$/,
  /^test\/hearing\/echo-(?:endurance|paths)\.test\.ts$/,
  /^test\/engines\/moonshine\/moonshine-endurance\.test\.ts$/,
  /^test\/interop\/telephone\/joined-peers\.test\.ts$/,
  /^test\/telephone\/joined-leaks\.test\.ts$/,
];

const matches = (patterns: readonly RegExp[], file: string) => patterns.some((pattern) => pattern.test(file));

export function partsOf(file: string): readonly Part[] {
  if (matches(LONG, file)) return ['long'];
  const part = matches(REST, file) ? 'rest' : 'quick';
  return matches(SCALED, file) ? [part, 'long'] : [part];
}

/** Files of the repository by path from its top: every TypeScript source with its text. */
export type SourceTexts = ReadonlyMap<string, string>;

const FOLDERS = ['src', 'sip', 'signaling', 'test'];

export function readSources(root: string): SourceTexts {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => posix.join(folder, path)),
  );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Paths that differ from `revision`, untracked files included. */
export function changedSince(root: string, revision: string): readonly string[] {
  const git = (...words: string[]): string[] =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  return [
    ...git('diff', '--name-only', '--no-renames', '-z', revision),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ];
}

interface Reach {
  /** Test files that a change can reach. */
  readonly files: readonly string[];
  /** True if it can reach the native tests. */
  readonly native: boolean;
}

/** These decide how everything is built or run, so a change of one reaches every test. */
const EVERYTHING = /^(?:package(?:-lock)?\.json|tsconfig(?:\.build)?\.json|test\/(?:run|native-tests)\.ts)$/;

/**
 * The tests that a change of these paths can reach. TypeScript is followed by its imports and by the names of
 * compiled files in strings (workers, child processes). Any other file reaches the sources that name it or
 * one of its folders, and `native/` reaches whatever loads the addon. A changed file that nothing names
 * reaches every test.
 */
export function reachOf(changed: readonly string[], sources: SourceTexts): Reach {
  const tests = [...sources.keys()].filter((path) => path.endsWith('.test.ts'));
  const nativeChanged = changed.some((path) => path.startsWith('native/'));
  const starts = changed.map((path) => namersOf(path, sources));
  if (starts.includes(undefined)) return { files: tests, native: true };
  const reached = new Set(starts.flatMap((paths) => paths ?? []));
  const importers = importersOf(sources);
  for (const path of reached) for (const importer of importers.get(path) ?? []) reached.add(importer);
  return { files: tests.filter((path) => reached.has(path)), native: nativeChanged };
}

/** The sources that a change of one path reaches first; undefined where it may reach anything. */
function namersOf(path: string, sources: SourceTexts): readonly string[] | undefined {
  if (EVERYTHING.test(path)) return undefined;
  if (sources.has(path)) return [path];
  if (path.endsWith('.ts')) return []; // a deleted source: its importers had to change, too
  const names = [posix.basename(path), ...foldersOf(path)];
  const namers = [...sources]
    .filter(([, text]) => names.some((name) => text.includes(name)))
    .map(([source]) => source);
  if (path.startsWith('native/')) namers.push('src/addon.ts');
  return namers.length > 0 ? namers : undefined;
}

/**
 * "test/http/data/a.json" → "test/http/data", "http/data": folders as a source may write them, two names at
 * least.
 */
function foldersOf(path: string): string[] {
  const names = posix.dirname(path).split('/');
  return names.slice(0, -1).map((_, from) => names.slice(from).join('/'));
}

const IN_QUOTES = /['"`]([^'"`\n]*\.(?:js|ts))['"`]/g;

/** For each source, the sources that import it, start it or name its compiled file. */
function importersOf(sources: SourceTexts): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [path, text] of sources) {
    for (const [, name = ''] of text.matchAll(IN_QUOTES)) {
      const source = name.replace(/\.js$/, '.ts');
      // A child process is started as join(ROOT, 'dist', 'src', 'main.js').
      for (const target of [posix.join(posix.dirname(path), source), posix.join('src', source)]) {
        if (sources.has(target)) importers.set(target, [...(importers.get(target) ?? []), path]);
      }
    }
  }
  return importers;
}

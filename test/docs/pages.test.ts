// README.md, CONTRIBUTING.md and the pages in public/docs: links, examples and names that can be checked
// without a server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { readRoutingFile } from '../../sip/routing-file.js';
import { readTrunkFile } from '../../sip/trunk/trunk-settings.js';
import { readPrograms } from '../../src/ivr/program-reader.js';
import { NO_NAMED_RELAYS } from '../../src/config/named-relay.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { brokenLink, codeBlocksOf, documents, guidePages, linksOf, ROOT, textOf } from './markdown.js';

const MOST_README_LINES = 250;
const MOST_FIGURE_LINES = 700; // of both pages together

test('the README is short enough to be read to its end', () => {
  const lines = textOf('README.md').split('\n').length - 1;
  assert.ok(lines <= MOST_README_LINES, `${lines} lines`);
});

test('the two pages of figures are short, and each section has its date', () => {
  const pages = ['test/bench/RESULTS.md', 'native/bench/RESULTS.md'].map(textOf);
  const lines = pages.reduce((sum, page) => sum + page.split('\n').length - 1, 0);
  assert.ok(lines <= MOST_FIGURE_LINES, `${lines} lines`);
  const sections = pages.flatMap((page) => page.split(/^(?=## )/m).slice(1));
  const bare = sections.filter((section) => !/^20\d\d-\d\d-\d\d/m.test(section));
  assert.deepEqual(
    bare.map((section) => section.split('\n')[0]),
    ['## Tried and dropped', '## What was learnt about the hardware', '## Tried and dropped'],
  );
});

test('every link and anchor of the documents resolves', () => {
  const links = documents().flatMap(linksOf);
  assert.ok(links.length > 50);
  assert.deepEqual(
    links.flatMap((link) => brokenLink(link) ?? []),
    [],
  );
});

test('the guide links to its own pages, its examples and absolute addresses only, so that both work at /guide', () => {
  const outside = guidePages()
    .flatMap(linksOf)
    .filter(({ target }) => !/^(?:https?:|#|[\w-]+\.md(?:#|$)|examples\/[\w.-]+$)/.test(target));
  assert.deepEqual(outside, []);
});

test('the index of the guide lists every page', () => {
  const listed = linksOf('public/docs/README.md').map(({ target }) => `public/docs/${target}`);
  const pages = guidePages().filter((page) => posix.basename(page) !== 'README.md');
  assert.deepEqual(listed.toSorted(), pages);
});

test('every JSON example is JSON, whole or line by line', () => {
  const blocks = documents()
    .flatMap(codeBlocksOf)
    .filter(({ language }) => language === 'json');
  assert.ok(blocks.length >= 4);
  for (const { document, code } of blocks) {
    const isEvents = code.split('\n').filter((line) => line.startsWith('{"type"')).length > 1;
    for (const json of isEvents ? code.trim().split('\n') : [code]) {
      assert.doesNotThrow(() => JSON.parse(json), `${document}: ${json}`);
    }
  }
});

test('every example of trunks, of rules and of call programs is one that the server takes', () => {
  const secrets = { environment: () => 'a password', file: () => undefined };
  const context = {
    isKey: () => true,
    isAgent: () => true,
    hearing: HEARING_SETTINGS,
    records: true,
    namedRelays: NO_NAMED_RELAYS,
    programProblem: () => undefined,
  };
  const examples = documents()
    .flatMap(codeBlocksOf)
    .filter(({ language, code }) => language === 'json' && /^\{"(?:trunks|routes|programs)":/.test(code));
  assert.ok(examples.length >= 5, `${examples.length} examples`);
  for (const { document, code } of examples) {
    const { problems } = code.startsWith('{"trunks"')
      ? readTrunkFile(code, secrets)
      : code.startsWith('{"programs"')
        ? readPrograms(code)
        : readRoutingFile(code, context);
    assert.deepEqual(problems ?? [], [], `${document}: ${code}`);
  }
});

test('no document, message or script runs `npx parley`, which may be a package of a stranger', () => {
  const files = ['src', 'sip', 'signaling'].flatMap(sourcesIn);
  const texts = [...files, ...documents().map(textOf), textOf('setup.sh'), textOf('package.json')];
  assert.deepEqual(
    texts.flatMap((text) => text.match(/.*npx (?:-\S+ )*parley.*/g) ?? []),
    [],
  );
});

test('every JavaScript example is a module that can be parsed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-docs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const blocks = documents()
    .flatMap(codeBlocksOf)
    .filter(({ language }) => language === 'js');
  assert.ok(blocks.length >= 5);
  blocks.forEach(({ code }, n) => {
    const file = join(folder, `example-${n}.mjs`);
    writeFileSync(file, code);
    execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
  });
});

/** Paths in backticks: with a folder of the repository before them, or files at its top. */
const PATH = /`((?:src|sip|signaling|native|public|test)(?:\/[\w.@*-]+)+\/?|[\w-]+\.(?:md|json|yaml|sh))`/g;

test('every path that the documents name exists', () => {
  const made = /^native\/build|node_modules/; // by a build
  const missing = documents().flatMap((document) =>
    Array.from(textOf(document).matchAll(PATH), ([, path = '']) => path)
      .filter((path) => !made.test(path) && !existsSync(join(ROOT, path)))
      .map((path) => `${document}: ${path}`),
  );
  const examples = [
    'config.json',
    'config.yaml',
    'streaming_config.json',
    'tokenizer_config.json',
    'vocab.json',
    'compose.override.yaml',
  ];
  assert.deepEqual(
    missing.filter((line) => !examples.some((name) => line.endsWith(`: ${name}`))),
    [],
  );
});

test('every file that the page of the models names exists', () => {
  const page = readFileSync(join(ROOT, 'native/model/README.md'), 'utf8');
  const names = Array.from(page.matchAll(/`((?:[\w-]+\/)+[\w-]+\.(?:h|cc))`/g), ([, name = '']) => name);
  assert.ok(names.length > 30, `${names.length} files`);
  const missing = names.filter(
    (name) => !existsSync(join(ROOT, 'native/model', name)) && !existsSync(join(ROOT, name)),
  );
  assert.deepEqual(missing, []);
});

test('every term of the glossary has its one type in its room', () => {
  const rows = [
    ...textOf('public/docs/architecture.md').matchAll(/^\| [\w ]+ \| `(\w+)` \| `([\w/]+)` \| .+ \|$/gm),
  ];
  assert.ok(rows.length >= 30, `${rows.length} terms`);
  const absent = rows.filter(([, type = '', room = '']) => {
    const declaration = new RegExp(
      `^(?:export (?:abstract )?)?(?:class|interface|type|struct) ${type}\\b`,
      'm',
    );
    return !sourcesIn(room).some((source) => declaration.test(source));
  });
  assert.deepEqual(
    absent.map(([row]) => row),
    [],
  );
});

test('the code logs every line of a call that the operations page lists', () => {
  const [, section = ''] =
    /^### Lines of a call$([^]*?)^## /m.exec(textOf('public/docs/operations.md')) ?? [];
  const messages = Array.from(section.matchAll(/^\| `([a-z ]+)` \|/gm), ([, message = '']) => message);
  const sources = ['src', 'sip', 'signaling'].flatMap(sourcesIn);
  assert.ok(messages.length >= 10, `${messages.length} lines`);
  assert.deepEqual(
    messages.filter((message) => !sources.some((source) => source.includes(`'${message}'`))),
    [],
  );
});

function sourcesIn(room: string): readonly string[] {
  const names = readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.(?:ts|h)$/.test(name))
    .map((name) => readFileSync(join(ROOT, room, name), 'utf8'));
}

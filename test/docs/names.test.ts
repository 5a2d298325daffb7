// The guide names every metric, every type of an event and every field of the JSON that the server writes.
// The names are read from the sources, so that a new one fails here until a page of the guide has it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { guidePages, ROOT, textOf } from './markdown.js';

/** Every word of the guide's code: within backticks and in blocks. A type may have full stops in it. */
const GUIDE = wordsOf(
  guidePages()
    .map(textOf)
    .flatMap((page) => page.match(/^```[^]*?^```$|`[^`\n]+`/gm) ?? [])
    .join('\n'),
);

function wordsOf(code: string): ReadonlySet<string> {
  const whole = code.match(/[\w.]+/g) ?? [];
  return new Set([...whole, ...(code.match(/\w+/g) ?? [])]);
}

interface Source {
  readonly path: string;
  readonly text: string;
}

/** The TypeScript files of a folder, or one file. */
function sourcesIn(place: string): readonly Source[] {
  const paths = place.endsWith('.ts')
    ? [place]
    : readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${place}/${name}`);
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** `path: name` of each name that the expression finds in the sources and the guide does not have. */
function unknownTo(
  known: ReadonlySet<string>,
  sources: readonly Source[],
  name: RegExp,
): { readonly found: number; readonly missing: readonly string[] } {
  const found = new Map<string, string>();
  for (const { path, text } of sources) {
    for (const [, one = ''] of text.matchAll(name)) found.set(one, path);
  }
  const missing = [...found].filter(([one]) => !known.has(one)).map(([one, path]) => `${path}: ${one}`);
  return { found: found.size, missing };
}

test('the guide names every metric', () => {
  const sources = sourcesIn('src/observe'); // the only room that may import prom-client
  const { found, missing } = unknownTo(GUIDE, sources, /['"`]((?:parley|tts|asr)_[a-z_]+)['"`]/g);
  assert.ok(found > 80, `${found} metrics`);
  assert.deepEqual(missing, []);
});

/** Words of JSON Schema, which stand behind `type:` in the description of a body. */
const SCHEMA_TYPES = ['string', 'object', 'array', 'number', 'integer', 'boolean', 'null'];

test('the guide names every type of the events and messages of calls', () => {
  const places = [
    'src/call',
    'src/api/calls',
    'src/api/omni',
    'src/api/legacy',
    'src/api/streams',
    'signaling',
  ];
  const known = new Set([...GUIDE, ...SCHEMA_TYPES]);
  const { found, missing } = unknownTo(known, places.flatMap(sourcesIn), /\btype: '([a-z][\w.]*)'/g);
  assert.ok(found > 40, `${found} types`);
  assert.deepEqual(missing, []);
});

/**
 * The folders whose bodies are Parley's own, or OpenAI's with additions. The protocols of ElevenLabs and of
 * OpenAI's Realtime (`src/api/realtime`) have a reference of their own.
 */
const OWN_BODIES = [
  'calls',
  'http',
  'jambonz',
  'legacy',
  'live',
  'omni',
  'openai',
  'relay',
  'speech',
  'status',
  'streams',
];

test('the guide names every field of bodies, events and call records that has an underscore', () => {
  const places = [...OWN_BODIES.map((folder) => `src/api/${folder}`), 'src/observe/webhook.ts'];
  const field = /^\s+(?:readonly )?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\??: |,$)/gm;
  const { found, missing } = unknownTo(GUIDE, places.flatMap(sourcesIn), field);
  assert.ok(found > 70, `${found} fields`);
  assert.deepEqual(missing, []);
});

test('the guide names every field of the tables that a view and its schema are made from', () => {
  // displayName: ['display_name?', STRING] and ['avg_logprob', NUMBER, () => 0]
  const row = /^\s+(?:[a-z]\w*: )?\[\s*'([a-z]\w*)\??',\s*(?:[A-Z{]|[a-zA-Z]+\()/gm;
  const { found, missing } = unknownTo(GUIDE, sourcesIn('src/api'), row);
  assert.ok(found > 20, `${found} fields`);
  assert.deepEqual(missing, []);
});

test('a name that the guide does not have is told with its file', () => {
  const source = { path: 'src/api/calls/call-json.ts', text: '    forgotten_ms: 1,\n    created_at: 2,\n' };
  const { found, missing } = unknownTo(GUIDE, [source], /^\s+([a-z]+_[a-z]+): /gm);
  assert.equal(found, 2);
  assert.deepEqual(missing, ['src/api/calls/call-json.ts: forgotten_ms']);
});

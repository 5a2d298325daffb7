// `parley pull pocket-…`: files of several commits become one folder that the engine opens, with its licences
// shown before; `parley models` tells what of it is complete, partial and broken.
import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { completePocketModels, pocketFolder, pocketInCache } from '../../src/config/pocket-cache.js';
import { POCKET_VOICES, pocketModelNamed, type PocketModel } from '../../src/config/pocket-catalog.js';
import { inspectModel } from '../../src/engines/native/native-speech.js';
import { modelsCommand } from '../../src/models/models-command.js';
import { needsOf } from '../../src/models/checkpoint-facts.js';
import { GOLDEN } from '../engines/golden.js';
import { dropEncoder, pocketFolders } from '../engines/pocket/pocket-folders.js';
import { type FakeRepository, refuse } from './fake-hub.js';
import { PullUnderTest } from './pull-under-test.js';

const OPEN = 'kyutai/pocket-tts-without-voice-cloning';
const GATED = 'kyutai/pocket-tts';
const WEIGHTS_COMMIT = 'd29db7978e464fb90cb3359ee0c69a273b9142cc';
const VOICES_COMMIT = 'e041936c75475d350b405bc870bcf7c22da4e9e6';
const GATED_COMMIT = '19f95fe2df36e79fbd9f10008595cc4c977a0fcc';

const TINY = join(GOLDEN, 'pocket', 'tiny-current');
const WEIGHTS = readFileSync(join(TINY, 'model.safetensors'));
const TOKENIZER = readFileSync(join(TINY, 'tokenizer.model'));
const YAML = readFileSync(join(TINY, 'config.yaml'));

/** Bytes of the tiny model's tensors that only cloning reads. */
const ENCODER_BYTES = 163_638;

type Files = Record<string, Uint8Array>;

function under(folder: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [`languages/${folder}/${name}`, bytes]),
  );
}

/** Voices of two names have one content, and so one blob. */
function voicesOf(folder: string): Files {
  const contentOf = (name: string) => Buffer.from(name === 'vera' ? 'alba' : name);
  const voices = POCKET_VOICES.map(({ name }) => [`embeddings/${name}.safetensors`, contentOf(name)]);
  return under(folder, Object.fromEntries(voices) as Files);
}

function repositories(folder: string, more: Files = {}): readonly FakeRepository[] {
  const files = { 'model.safetensors': WEIGHTS, 'tokenizer.model': TOKENIZER, ...more };
  return [
    { id: OPEN, commit: WEIGHTS_COMMIT, files: under(folder, files) },
    { id: OPEN, commit: VOICES_COMMIT, files: voicesOf(folder) },
    { id: GATED, commit: GATED_COMMIT, files: under(folder, { 'model.safetensors': WEIGHTS }) },
  ];
}

async function german(t: TestContext, more: Files = {}): Promise<PullUnderTest> {
  return await PullUnderTest.openAll(t, repositories('german', more));
}

function modelOf(name: string): PocketModel {
  const model = pocketModelNamed(name);
  assert.ok(model !== undefined);
  return model;
}

interface Line {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
  readonly revision?: string;
  readonly folder?: string;
  readonly bytes: number;
  readonly memoryBytes?: number;
  readonly credit?: string;
  readonly licence?: string;
  readonly voices?: readonly { readonly name: string; readonly licence: string }[];
}

async function listedAs(cache: string, name: string, args = ['--json']): Promise<Line> {
  const out = await models(cache, args);
  const line = (JSON.parse(out) as { models: readonly Line[] }).models.find((one) => one.name === name);
  assert.ok(line !== undefined);
  return line;
}

async function models(cache: string, args: readonly string[]): Promise<string> {
  let [out, err] = ['', ''];
  const output = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    columns: undefined,
  };
  const rate = () => Promise.resolve({ bytesPerSecond: 1e9, threads: 1 });
  assert.equal(await modelsCommand(args, { HF_HUB_CACHE: cache }, output, rate), 0, err);
  return out;
}

test('a pulled model is one folder of links into snapshots of the pinned commits', async (t) => {
  const pull = await german(t);
  assert.equal(await pull.run('pocket-de'), 0, pull.err);
  const folder = pocketFolder(pull.cache, modelOf('pocket-de'));
  const repository = join(pull.cache, 'models--kyutai--pocket-tts-without-voice-cloning');
  assert.equal(folder, join(repository, 'joined', 'd29db7978e46-e041936c7547', 'german'));
  const expected = {
    'model.safetensors': [WEIGHTS_COMMIT, '../../..', WEIGHTS],
    'tokenizer.model': [WEIGHTS_COMMIT, '../../..', TOKENIZER],
    'embeddings/juergen.safetensors': [VOICES_COMMIT, '../../../..', Buffer.from('juergen')],
    'embeddings/alba.safetensors': [VOICES_COMMIT, '../../../..', Buffer.from('alba')],
    'embeddings/marius.safetensors': [VOICES_COMMIT, '../../../..', Buffer.from('marius')],
    'embeddings/vera.safetensors': [VOICES_COMMIT, '../../../..', Buffer.from('alba')],
  } as const;
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(found.toSorted(), [...Object.keys(expected), 'embeddings'].toSorted());
  for (const [path, [commit, up, bytes]] of Object.entries(expected)) {
    assert.equal(readlinkSync(join(folder, path)), `${up}/snapshots/${commit}/languages/german/${path}`);
    assert.deepEqual(readFileSync(join(folder, path)), bytes, path);
    assert.ok(lstatSync(join(repository, 'snapshots', commit, 'languages/german', path)).isSymbolicLink());
  }
  assert.match(pull.out, /^pocket-de \(d29db7978e46, 853 kB\) is complete: /);
  assert.ok(pull.out.endsWith(`is complete: ${folder}\nStart with it: npm start\n`), pull.out);
  assert.deepEqual(
    completePocketModels(pull.cache).map(({ name }) => name),
    ['pocket-de'],
  );
});

test('credit, licences and size are shown before the first byte is fetched', async (t) => {
  const pull = await german(t);
  pull.hub.before = (_request, response, path) => {
    if (!path.includes('/resolve/')) return false;
    refuse(response, 404);
    return true;
  };
  assert.equal(await pull.run('pocket-de'), 1);
  const lines = pull.err.split('\n');
  assert.equal(
    lines[0],
    'Pocket TTS by Kyutai (Manu Orsini, Simon Rouard, Gabriel de Marmiesse, Vaclav Volhejn, Neil Zeghidour, Alexandre Défossez), CC BY 4.0: https://creativecommons.org/licenses/by/4.0/',
  );
  assert.equal(
    lines[2],
    'Voices: juergen (not stated), alba (CC BY 4.0), marius (CC0 1.0), vera (CC BY 4.0)',
  );
  assert.equal(lines[3], '6 files, 853 kB');
  assert.ok(!pull.err.includes('Terms of'));
});

test('all voices are fetched on request, and the non-commercial ones are named', async (t) => {
  const pull = await german(t);
  assert.equal(await pull.run(['pocket-de']), 0, pull.err);
  pull.hub.asked.length = 0;
  assert.equal(await pull.run(['pocket-de', '--voices', 'cosette']), 0, pull.err);
  const asked = pull.hub.asked.filter(({ path }) => path.includes('/resolve/')).map(({ path }) => path);
  assert.deepEqual(asked, [
    `/${OPEN}/resolve/${VOICES_COMMIT}/languages/german/embeddings/cosette.safetensors`,
  ]);
  assert.match(pull.err, /^Not for commercial use, and silent without POCKET_NONCOMMERCIAL=1: cosette$/m);
  assert.equal(await pull.run(['pocket-de', '--voices', 'all']), 0, pull.err);
  assert.match(pull.err, /^Not for commercial use, .*: cosette, jean$/m);
  assert.deepEqual(
    pocketInCache(pull.cache, modelOf('pocket-de')).voices,
    POCKET_VOICES.map(({ name }) => name),
  );
});

test('without a token only the open repository is asked', async (t) => {
  const pull = await german(t);
  assert.equal(await pull.run('pocket-de'), 0, pull.err);
  assert.ok(
    pull.hub.asked.every(({ path, authorization }) => path.includes(OPEN) && authorization === undefined),
  );
});

test('a cloning model needs a token, and its terms are shown', async (t) => {
  const pull = await PullUnderTest.openAll(t, repositories('english_2026-04'));
  assert.equal(await pull.run('pocket-en-cloning'), 1);
  assert.match(pull.err, /^Terms of kyutai\/pocket-tts: no voice is cloned or impersonated without/m);
  assert.ok(
    pull.err.endsWith(
      `parley: pocket-en-cloning is not open to everybody: accept the terms at ${pull.hub.url}/${GATED}, and set HF_TOKEN to a token of that account; pocket-en needs none, and clones no voices\n`,
    ),
    pull.err,
  );
  assert.deepEqual(pull.hub.asked, []);
  assert.equal(await pull.run('pocket-en-cloning', { env: { HF_TOKEN: 'hf_secret' } }), 0, pull.err);
  const folder = pocketFolder(pull.cache, modelOf('pocket-en-cloning'));
  assert.equal(
    readlinkSync(join(folder, 'model.safetensors')),
    `../../../snapshots/${GATED_COMMIT}/languages/english_2026-04/model.safetensors`,
  );
  assert.equal(
    readlinkSync(join(folder, 'tokenizer.model')),
    `../../../../models--kyutai--pocket-tts-without-voice-cloning/snapshots/${WEIGHTS_COMMIT}/languages/english_2026-04/tokenizer.model`,
  );
  assert.deepEqual(readFileSync(join(folder, 'embeddings/alba.safetensors')), Buffer.from('alba'));
});

test('a YAML of the repository is fetched with the model', async (t) => {
  const pull = await german(t, { 'config.yaml': YAML });
  assert.equal(await pull.run('pocket-de'), 0, pull.err);
  const folder = pocketFolder(pull.cache, modelOf('pocket-de'));
  assert.deepEqual(readFileSync(join(folder, 'config.yaml')), YAML);
});

test('the engine opens the folder of a pulled model, with its voices, by the YAML or by the name', async (t) => {
  const voice = readFileSync(join(TINY, 'embeddings', 'mono24k.safetensors'));
  const voices = Object.fromEntries(
    POCKET_VOICES.map(({ name }) => [`embeddings/${name}.safetensors`, voice]),
  );
  for (const more of [{ 'config.yaml': YAML }, {}] as Files[]) {
    const [weights] = repositories('german', more);
    assert.ok(weights !== undefined);
    const pull = await PullUnderTest.openAll(t, [
      weights,
      { id: OPEN, commit: VOICES_COMMIT, files: under('german', voices) },
    ]);
    assert.equal(await pull.run('pocket-de'), 0, pull.err);
    const inspected = inspectModel(pocketFolder(pull.cache, modelOf('pocket-de')));
    if ('config.yaml' in more) {
      const { speakers, sampleRate } = await inspected;
      assert.deepEqual([speakers, sampleRate], [['alba', 'juergen', 'marius', 'vera'], 24_000]);
    } else {
      // The configuration of the published model is another than that of these weights.
      await assert.rejects(inspected, /tokenizer\.model: expected 4000 pieces, .* found 499/);
    }
  }
});

test('a commit that lacks a file is refused before anything is fetched', async (t) => {
  const pull = await PullUnderTest.openAll(t, [
    { id: OPEN, commit: WEIGHTS_COMMIT, files: under('german', { 'model.safetensors': WEIGHTS }) },
  ]);
  assert.equal(await pull.run('pocket-de'), 1);
  assert.match(
    pull.err,
    new RegExp(`parley: ${OPEN} has no file languages/german/tokenizer\\.model at ${WEIGHTS_COMMIT}\n$`),
  );
  assert.ok(!existsSync(pocketFolder(pull.cache, modelOf('pocket-de'))));
});

test('wrong names, revisions and voices are refused before the hub is asked', async (t) => {
  const pull = await german(t);
  for (const [args, message] of [
    [['pocket-de@main'], 'NAME of pocket-de has no @REVISION: its commits are fixed'],
    [
      ['qwen3-asr-0.6b', '--voices', 'all'],
      '--voices has no effect on qwen3-asr-0.6b: only models of Pocket TTS have voices',
    ],
    [
      ['pocket-nl'],
      /^"pocket-nl" is no name of a model; use owner\/name or one of qwen3-tts-0\.6b, .*pocket-en-cloning, .*turn-23, light$/,
    ],
    [['pocket-de', '--voices', 'alba,bob'], /^--voices must be all, or names of alba, .*vera; not "bob"$/],
  ] as const) {
    assert.equal(await pull.run(args), 1);
    const [, said = ''] = /^parley: (.*)\n$/.exec(pull.err) ?? [];
    if (typeof message === 'string') assert.equal(said, message);
    else assert.match(said, message);
  }
  assert.deepEqual(pull.hub.asked, []);
});

test('the repository itself is no model: its short names are named', async (t) => {
  const pull = await german(t);
  assert.equal(await pull.run(`${OPEN}@${WEIGHTS_COMMIT}`), 1);
  assert.match(
    pull.err,
    /parley: kyutai\/pocket-tts-without-voice-cloning holds several models: fetch one of pocket-en, /,
  );
});

test('a model that clones needs memory for the encoder, too', async (t) => {
  const pull = await german(t);
  assert.equal((await listedAs(pull.cache, 'pocket-en')).memoryBytes, 200e6);
  assert.equal((await listedAs(pull.cache, 'pocket-en-cloning')).memoryBytes, 219e6);
  const [model] = pocketFolders(t, { english: ['alba'] });
  const directory = model?.directory ?? assert.fail();
  const needs = async () => await needsOf(directory, 'voice', { quantize: 'none', codecFormat: undefined });
  const cloning = await needs();
  dropEncoder(directory);
  const speaking = await needs();
  assert.equal(cloning.memoryBytes - speaking.memoryBytes, ENCODER_BYTES);
  assert.equal(cloning.stepBytes, speaking.stepBytes, 'a frame of speech does not read the encoder');
});

test('models lists what of a model is absent, partial, complete and broken, with its rights', async (t) => {
  const pull = await german(t);
  const absent = await listedAs(pull.cache, 'pocket-de');
  assert.deepEqual([absent.state, absent.bytes, absent.memoryBytes], ['absent', 245_029_196, 200e6]);
  pull.hub.before = (_request, response, path) => {
    if (!path.endsWith(`${WEIGHTS_COMMIT}/languages/german/model.safetensors`)) return false;
    response.writeHead(200, { 'content-length': WEIGHTS.length });
    response.write(WEIGHTS.subarray(0, 1000), () => response.destroy());
    return true;
  };
  assert.equal(await pull.run('pocket-de'), 1);
  assert.equal((await listedAs(pull.cache, 'pocket-de')).state, 'partial');
  assert.equal((await listedAs(pull.cache, 'pocket-en')).state, 'absent');
  pull.hub.before = () => false;
  assert.equal(await pull.run('pocket-de'), 0, pull.err);
  const complete = await listedAs(pull.cache, 'pocket-de');
  const folder = pocketFolder(pull.cache, modelOf('pocket-de'));
  assert.deepEqual(
    [complete.state, complete.revision, complete.folder],
    ['complete', WEIGHTS_COMMIT, folder],
  );
  assert.equal(complete.bytes, WEIGHTS.length + TOKENIZER.length + 'juergenalbamariusalba'.length);
  assert.ok((complete.memoryBytes ?? 0) > 100_000 && (complete.memoryBytes ?? 0) < WEIGHTS.length);
  assert.deepEqual([complete.credit, complete.licence], ['Pocket TTS by Kyutai', 'CC BY 4.0']);
  assert.deepEqual(complete.voices?.[1], { name: 'juergen', licence: 'not stated' });
  rmSync(join(pull.cache, 'models--kyutai--pocket-tts-without-voice-cloning', 'blobs'), { recursive: true });
  const broken = await listedAs(pull.cache, 'pocket-de');
  assert.deepEqual(
    [broken.state, broken.reason],
    ['unusable', 'a link of its folder leads nowhere; the same pull mends it'],
  );
  assert.equal(await pull.run('pocket-de'), 0, pull.err);
  assert.equal((await listedAs(pull.cache, 'pocket-de')).state, 'complete');
});

test('the table names credit and licences, and weights of another model are unusable', async (t) => {
  const pull = await PullUnderTest.openAll(t, [
    {
      id: OPEN,
      commit: WEIGHTS_COMMIT,
      files: under('german', { 'model.safetensors': Buffer.alloc(3), 'tokenizer.model': TOKENIZER }),
    },
    { id: OPEN, commit: VOICES_COMMIT, files: voicesOf('german') },
  ]);
  assert.equal(await pull.run(['pocket-de', '--voices', 'jean']), 0, pull.err);
  const table = await models(pull.cache, []);
  assert.match(table, /^pocket-de +voice +unusable +d29db7978e46 \(pinned\) /m);
  assert.match(table, /^pocket-de: .*model\.safetensors is cut off, or no safetensors file$/m);
  assert.match(table, /^Models pocket-\*: Pocket TTS by Kyutai \(Manu Orsini, /m);
  assert.match(table, /jean \(CC BY-NC 4\.0, needs POCKET_NONCOMMERCIAL=1\)/);
  assert.ok(!table.includes('kyutai/pocket-tts'), table);
});

test('a folder that was only begun is partial, not complete', async (t) => {
  const pull = await german(t);
  mkdirSync(pocketFolder(pull.cache, modelOf('pocket-fr')), { recursive: true });
  assert.equal(pocketInCache(pull.cache, modelOf('pocket-fr')).state, 'partial');
  assert.deepEqual(completePocketModels(pull.cache), []);
});

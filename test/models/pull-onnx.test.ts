// `parley pull` of ONNX models and of `light`: files of a server that is no hub, checksums that are kept,
// licences and sizes that are shown before, and what `parley models` tells of them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { checkPulled, moonshineInCache, turnFile, turnInCache } from '../../src/config/onnx-cache.js';
import {
  type MoonshineModel,
  moonshineModelNamed,
  TURN_MODELS,
  type TurnModel,
  turnModelNamed,
} from '../../src/config/onnx-catalog.js';
import { POCKET_VOICES } from '../../src/config/pocket-catalog.js';
import { DISK } from '../../src/models/blob-download.js';
import { Crc32c } from '../../src/models/crc32c.js';
import { modelsCommand } from '../../src/models/models-command.js';
import { type FakeRepository, refuse } from './fake-hub.js';
import { PullUnderTest } from './pull-under-test.js';

const TURN_FILE = Buffer.alloc(200_000, 'a graph for the ends of turns, ');
const POCKET = 'kyutai/pocket-tts-without-voice-cloning';

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A published model with other contents: nobody has weights with the pinned checksums here. */
function small(name: string, kind: 'sha256' | 'crc32c' = 'crc32c') {
  const published = moonshineModelNamed(name);
  assert.ok(published !== undefined);
  const contents = new Map<string, Buffer>();
  const files = published.files.map((file) => {
    const content = Buffer.alloc(file.name === 'decoder_kv.ort' ? 3_000_000 : 5000, `${file.name}, `);
    contents.set(file.name, content);
    const crc = Buffer.from(new Crc32c().update(content).digest('hex'), 'hex').toString('base64');
    const text = kind === 'crc32c' ? crc : sha256(content);
    return { name: file.name, bytes: content.length, digest: { kind, text } };
  });
  return { model: { ...published, files } satisfies MoonshineModel, contents };
}

function turn(name: string): TurnModel {
  const model = turnModelNamed(name);
  assert.ok(model !== undefined);
  return model;
}

interface UnderTest {
  readonly pull: PullUnderTest;
  readonly model: MoonshineModel;
  readonly folder: string;
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Runs the command with the small model in the catalogue. */
  run(name: string, disk?: object): Promise<number>;
}

async function open(t: TestContext, name = 'moonshine-small-de', kind?: 'sha256'): Promise<UnderTest> {
  const { model, contents } = small(name, kind);
  const repositories = TURN_MODELS.map(({ id, commit, path }): FakeRepository => ({
    id,
    commit,
    files: { [path]: TURN_FILE },
  }));
  const pull = await PullUnderTest.openAll(t, [...repositories, ...pocketEnglish()]);
  for (const [file, content] of contents)
    pull.hub.moonshine.set(`${model.folder}/${model.revision}/${file}`, content);
  const catalog = { moonshine: [model], turn: TURN_MODELS };
  return {
    pull,
    model,
    contents,
    folder: join(pull.cache, 'moonshine', model.folder, model.revision),
    run: async (...[what, given]) => await pull.run(what, { catalog, ...given }),
  };
}

function pocketEnglish(): readonly FakeRepository[] {
  const under = (path: string) => `languages/english_2026-04/${path}`;
  const weights = { 'model.safetensors': Buffer.from('weights'), 'tokenizer.model': Buffer.from('tokens') };
  const voices = POCKET_VOICES.map(({ name }) => [
    under(`embeddings/${name}.safetensors`),
    Buffer.from(name),
  ]);
  const files = Object.fromEntries(Object.entries(weights).map(([name, bytes]) => [under(name), bytes]));
  return [
    { id: POCKET, commit: 'd29db7978e464fb90cb3359ee0c69a273b9142cc', files },
    {
      id: POCKET,
      commit: 'e041936c75475d350b405bc870bcf7c22da4e9e6',
      files: Object.fromEntries(voices) as Record<string, Uint8Array>,
    },
  ];
}

async function listed(cache: string, args: readonly string[]): Promise<string> {
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

test('a pulled Moonshine model is a folder with the SHA-256 of each file', async (t) => {
  for (const kind of [undefined, 'sha256'] as const) {
    const { pull, model, contents, folder, run } = await open(t, 'moonshine-small-de', kind);
    assert.equal(await run('Moonshine-Small-DE'), 0, pull.err);
    assert.deepEqual(readdirSync(folder), ['SHA256SUMS', ...contents.keys()]);
    const lines = [...contents].map(([name, content]) => `${sha256(content)}  ${name}\n`);
    assert.equal(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), lines.join(''));
    assert.equal(moonshineInCache(pull.cache, model).state, 'complete');
    await checkPulled([...contents.keys()].map((name) => join(folder, name)));
    assert.equal(
      pull.out,
      `moonshine-small-de (quantized_26_08_24, 3.0 MB) is complete: ${folder}\nStart with it: npm start\n`,
    );
  }
});

test('each request names the program and carries no token of the hub', async (t) => {
  const { pull, model, run } = await open(t);
  const env = { HF_TOKEN: 'hf_secret' };
  assert.equal(await run('moonshine-small-de', { env }), 0, pull.err);
  assert.equal(pull.hub.asked.length, 8);
  for (const { path, agent, authorization } of pull.hub.asked) {
    assert.match(path, new RegExp(`^/model/small-streaming-de/${model.revision}/[^/]+$`));
    assert.deepEqual([agent, authorization], ['parley', undefined]);
  }
});

test('licence and size are shown before the first byte is fetched', async (t) => {
  const { pull, run } = await open(t);
  pull.hub.before = (_request, response) => {
    refuse(response, 403);
    return true;
  };
  assert.equal(await run('moonshine-small-de'), 1);
  assert.equal(
    pull.err,
    'moonshine-small-de: Moonshine, copyright (c) 2025 Useful Sensors, Inc. (dba Moonshine AI), MIT: https://github.com/moonshine-ai/moonshine/blob/main/LICENSE\n8 files, 3.0 MB\nparley: the server of Moonshine answers with status 403\n',
  );
  pull.hub.before = () => false;
  pull.hub.moonshine.clear();
  assert.equal(await run('moonshine-small-de'), 1);
  assert.match(pull.err, /has no file adapter\.ort of moonshine-small-de \(quantized_26_08_24\)\n$/);
});

test('a broken transfer goes on where it ended, in this pull and in the next', async (t) => {
  const { pull, folder, contents, run } = await open(t);
  const decoder = contents.get('decoder_kv.ort') ?? Buffer.alloc(0);
  let breaks = 1;
  pull.hub.before = (request, response, path) => {
    if (!path.endsWith('/decoder_kv.ort') || breaks-- === 0) return false;
    const from = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
    const range = { 'content-range': `bytes ${from}-${decoder.length - 1}/${decoder.length}` };
    response.writeHead(from > 0 ? 206 : 200, from > 0 ? range : {});
    response.write(decoder.subarray(from, from + 1000), () => response.destroy());
    return true;
  };
  assert.equal(await run('moonshine-small-de'), 0, pull.err);
  assert.deepEqual(pull.pauses, [1]);
  assert.equal(pull.hub.requestsOf('decoder_kv.ort').at(-1)?.range, 'bytes=1000-');
  rmSync(join(folder, 'decoder_kv.ort'));
  writeFileSync(join(folder, 'decoder_kv.ort.incomplete'), decoder.subarray(0, 2000));
  breaks = 0;
  assert.equal(await run('moonshine-small-de'), 0, pull.err);
  assert.equal(pull.hub.requestsOf('decoder_kv.ort').at(-1)?.range, 'bytes=2000-');
  assert.deepEqual(readFileSync(join(folder, 'decoder_kv.ort')), decoder);
});

test('a file with another CRC32C or size does not count as there', async (t) => {
  const { pull, model, folder, contents, run } = await open(t);
  const wrong = Buffer.from(contents.get('encoder.ort') ?? []);
  wrong[0] = 0;
  const path = `${model.folder}/${model.revision}/encoder.ort`;
  pull.hub.replaced.set(path, wrong);
  assert.equal(await run('moonshine-small-de'), 1);
  assert.match(
    pull.err,
    /parley: encoder\.ort has the checksum [0-9a-f]{8}, but the catalogue lists [0-9a-f]{8}; the file is deleted\n$/,
  );
  assert.equal(moonshineInCache(pull.cache, model).state, 'partial');
  assert.ok(!existsSync(join(folder, 'encoder.ort')));
  pull.hub.replaced.set(path, wrong.subarray(1));
  assert.equal(await run('moonshine-small-de'), 1);
  assert.match(pull.err, /encoder\.ort has 4999 bytes, but the catalogue lists 5000\n$/);
});

test('the same pull mends a file that was damaged on the disk', async (t) => {
  const { pull, folder, contents, run } = await open(t);
  assert.equal(await run('moonshine-small-de'), 0, pull.err);
  const encoder = join(folder, 'encoder.ort');
  writeFileSync(encoder, Buffer.alloc(5000));
  await assert.rejects(checkPulled([encoder]), { code: 'CONFIG_INVALID' });
  pull.hub.asked.length = 0;
  assert.equal(await run('moonshine-small-de'), 0, pull.err);
  assert.deepEqual(
    pull.hub.asked.map(({ path }) => path.split('/').at(-1)),
    ['encoder.ort'],
  );
  assert.deepEqual(readFileSync(encoder), contents.get('encoder.ort'));
  await checkPulled([encoder]);
});

test('turn-en comes from its pinned commit, and its blob is named by its SHA-256', async (t) => {
  const { pull, run } = await open(t);
  assert.equal(await run('turn-en'), 0, pull.err);
  const model = turn('turn-en');
  const file = turnFile(pull.cache, model);
  assert.deepEqual(readFileSync(file), TURN_FILE);
  assert.match(realpathSync(file), new RegExp(`/blobs/${sha256(TURN_FILE)}$`));
  assert.equal(turnInCache(pull.cache, model).state, 'complete');
  await checkPulled([file]);
  const [fetched] = pull.hub.requestsOf('onnx/turn-1-mini.step.onnx');
  assert.equal(fetched?.path, `/p99lab/turn-1-mini/resolve/${model.commit}/${model.path}`);
  assert.match(pull.err, /^turn-en: turn-1-mini by p99lab, Apache-2\.0: https:\/\/www\.apache\.org\/\S+\n/);
  assert.match(
    pull.out,
    /^turn-en \(22bcc75c9857, 200\.0 kB\) is complete: |^turn-en \(22bcc75c9857, 200 kB\)/,
  );
});

test('turn-23 with another checksum than the pinned one is refused before it is fetched', async (t) => {
  const { pull, run } = await open(t);
  assert.equal(await run('turn-23'), 1);
  assert.match(
    pull.err,
    /parley: the hub lists the checksum [0-9a-f]{64} of smart-turn-v3\.2-cpu\.onnx, and turn-23 has 2bb026316b14/,
  );
  assert.deepEqual(pull.hub.requestsOf('smart-turn-v3.2-cpu.onnx'), []);
});

test('light is three models, whose sizes and licences are shown first', async (t) => {
  const { pull, model, run } = await open(t, 'moonshine-small-en');
  assert.equal(await run('light'), 0, pull.err);
  const lines = pull.err.split('\n');
  assert.equal(
    lines[0],
    'light: about 269.9 MB in all (pocket-en 245.0 MB, moonshine-small-en 3.0 MB, turn-en 21.8 MB)',
  );
  const first = lines.findIndex((line) => / files, /.test(line));
  const before = lines.slice(0, first).join('\n');
  for (const credit of [
    /^Pocket TTS by Kyutai/m,
    /^moonshine-small-en: .* MIT: /m,
    /^turn-en: .* Apache-2\.0: /m,
  ])
    assert.match(before, credit);
  assert.match(
    pull.out,
    /^pocket-en \(.*\) is complete: .*\nmoonshine-small-en \(.*\) is complete: .*\nturn-en \(.*\) is complete: .*\nStart with it: npm start\n$/,
  );
  assert.equal(moonshineInCache(pull.cache, model).state, 'complete');
  assert.equal(await pull.run('light'), 1);
  assert.match(
    pull.err,
    /^light: about 409\.1 MB in all \(pocket-en 245\.0 MB, moonshine-small-en 142\.3 MB, /,
  );
});

test('light needs space for all three models before the first byte, and less for those that are there', async (t) => {
  const { pull, run } = await open(t, 'moonshine-small-en');
  const having = (megabytes: number) => ({
    disk: { ...DISK, freeBytes: () => Promise.resolve(megabytes * 1e6) },
  });
  // 67.1 MB stay free. The files of Moonshine have 3.0 MB here, and those of the others 0.2 MB together.
  assert.equal(await run('light', having(68)), 1);
  assert.match(
    pull.err,
    /parley: .* needs 71 MB of free space and has 68 MB; HF_HOME names another folder\n$/,
  );
  const fetched = () => pull.hub.asked.filter(({ path }) => /\/resolve\/|\/model\//.test(path));
  assert.deepEqual(fetched(), []);
  assert.equal(await run('moonshine-small-en', having(71)), 0, pull.err);
  assert.equal(await run('light', having(68)), 0, pull.err);
});

test('revisions and voices of pinned ONNX models are refused before a server is asked', async (t) => {
  const { pull, run } = await open(t);
  assert.equal(await run('moonshine-small-de@main'), 1);
  assert.match(pull.err, /NAME of moonshine-small-de has no @REVISION: its commits are fixed\n$/);
  assert.equal(await pull.run(['turn-en', '--voices', 'all']), 1);
  assert.match(pull.err, /--voices has no effect on turn-en: only models of Pocket TTS have voices\n$/);
  assert.equal(await run('moonshine-small-de', { env: { MOONSHINE_ENDPOINT: 'ftp://host' } }), 1);
  assert.match(
    pull.err,
    /MOONSHINE_ENDPOINT must be an http\(s\) address without user, query and fragment\n$/,
  );
  assert.deepEqual(pull.hub.asked, []);
});

test('models lists ONNX models with their licences, absent, partial and unusable', async (t) => {
  const { pull, folder, run } = await open(t);
  const lineOf = async (name: string) => {
    const { models } = JSON.parse(await listed(pull.cache, ['--json'])) as { models: { name: string }[] };
    return models.find((one) => one.name === name) as Record<string, unknown> | undefined;
  };
  const absent = await lineOf('moonshine-small-de');
  assert.deepEqual(
    [absent?.['kind'], absent?.['state'], absent?.['bytes'], absent?.['licence']],
    ['recogniser', 'absent', 121_800_823, 'MIT'],
  );
  assert.equal(await run('turn-en'), 0, pull.err);
  const complete = await lineOf('turn-en');
  assert.deepEqual(
    [complete?.['kind'], complete?.['state'], complete?.['revision'], complete?.['credit']],
    ['turn', 'complete', turn('turn-en').commit, 'turn-1-mini by p99lab'],
  );
  assert.equal(await run('moonshine-small-de'), 0, pull.err);
  // The published sizes are others than those of this test.
  const unusable = await lineOf('moonshine-small-de');
  assert.deepEqual(
    [unusable?.['state'], unusable?.['folder'], unusable?.['reason']],
    ['unusable', folder, 'a file is missing or has another size; the same pull mends it'],
  );
  rmSync(join(folder, 'SHA256SUMS'));
  assert.equal((await lineOf('moonshine-small-de'))?.['state'], 'partial');
  const table = await listed(pull.cache, []);
  assert.match(table, /^Models moonshine-\*: Moonshine, copyright .*, MIT: https:/m);
  assert.match(table, /^Model turn-23: Smart Turn v3\.2 by Daily, BSD-2-Clause: https:/m);
  assert.match(table, /^turn-en +turn +complete +22bcc75c9857 \(pinned\) /m);
});

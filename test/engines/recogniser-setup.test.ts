// The recogniser and the aligner as the configuration names them.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { readConfig } from '../../src/config/config.js';
import { openEngines } from '../../src/engines/engine-setup.js';
import { openRecognisers } from '../../src/engines/recogniser-setup.js';
import type { Recogniser } from '../../src/engines/recogniser.js';
import { createLog } from '../../src/observe/log.js';
import { until } from '../fakes/until.js';
import { toy } from '../onnx/toys.js';
import { GOLDEN } from './golden.js';
import { TranscriptionServerUnderTest } from './transcription-server.js';

const LOG = createLog({ level: 'silent', logText: false });
const ASR = join(GOLDEN, 'tiny-asr-a');
const ALIGNER = join(GOLDEN, 'tiny-aligner');
const VOICE = join(GOLDEN, 'tiny-customvoice');

async function open(t: TestContext, env: Readonly<Record<string, string>>) {
  const opened = await openRecognisers(readConfig({ INFERENCE_THREADS: '1', ...env }), LOG);
  t.after(() => opened.close());
  return opened;
}

/** Resolves once a second of silence is recognised. */
async function recogniseSecond(t: TestContext, recogniser: Recogniser): Promise<void> {
  const ring = PcmRing.open(16_000, 16_000);
  t.after(() => ring.close());
  ring.write(new Float32Array(16_000));
  ring.end();
  const ignore = () => undefined;
  const session = recogniser.open({ sampleRate: 16_000, use: 'file' }, { final: ignore, partial: ignore });
  session.push(ring);
  await session.ended;
}

test('without a setting nothing recognises speech', async (t) => {
  const { recogniser, aligner, health } = await open(t, {});
  assert.deepEqual([recogniser, aligner, health], [undefined, undefined, undefined]);
});

test('recogniser and aligner are loaded at the start, each by itself', async (t) => {
  const both = await open(t, { DEVICE: 'cpu', ASR_MODEL_DIR: ASR, ALIGNER_MODEL_DIR: ALIGNER });
  const device = both.health?.aligner?.device;
  assert.match(String(device), /^cpu /);
  const loaded = { usable: true, loaded: true, problem: undefined, device };
  assert.deepEqual(both.health, {
    recogniser: { engine: 'qwen3-asr', ...loaded, sessions: 0 },
    aligner: { engine: 'qwen3-aligner', ...loaded },
  });
  await both.recogniser?.unload();
  assert.equal(both.health?.recogniser?.loaded, false);
  assert.equal(both.health?.aligner?.loaded, true);
  const one = await open(t, { ASR_MODEL_DIR: ASR, PRELOAD_MODEL: '0' });
  assert.deepEqual([one.health?.recogniser?.loaded, one.health?.aligner], [false, undefined]);
});

test('a model that does not fit its memory is refused with what it needs; the others serve on', async (t) => {
  const { recogniser } = await open(t, { DEVICE: 'cpu', ASR_MODEL_DIR: ASR, ASR_MEMORY: '50%' });
  const aligner = { DEVICE: 'cpu', ALIGNER_MODEL_DIR: ALIGNER, ALIGNER_MEMORY: '0.00001%' };
  await assert.rejects(open(t, aligner), { message: /^the model may take .*, and its weights alone take / });
  assert.ok(recogniser !== undefined);
  await recogniseSecond(t, recogniser);
});

test('a GPU that is asked for is asked for by all models', async (t) => {
  for (const model of [{ ASR_MODEL_DIR: ASR }, { ALIGNER_MODEL_DIR: ALIGNER }])
    await assert.rejects(open(t, { DEVICE: 'cuda:99', ...model }), { message: /^cuda:99: ./ });
});

test('a checkpoint of another kind is refused under every variable', async (t) => {
  for (const [name, wrong] of [
    ['ASR_MODEL_DIR', ALIGNER],
    ['ASR_MODEL_DIR', VOICE],
    ['ALIGNER_MODEL_DIR', ASR],
    ['ALIGNER_MODEL_DIR', VOICE],
  ] as const)
    await assert.rejects(open(t, { [name]: wrong }), {
      code: 'ENGINE_UNAVAILABLE',
      field: name,
      message: new RegExp(`the checkpoint of ${name} .*cannot be used: ${wrong}`),
    });
  for (const wrong of [ASR, ALIGNER]) {
    const config = readConfig({ ENGINE: 'qwen3', MODEL_DIR: wrong, INFERENCE_THREADS: '1' });
    await assert.rejects(openEngines(config, LOG), {
      code: 'ENGINE_UNAVAILABLE',
      message: new RegExp(`${wrong}/config\\.json.*qwen3_tts`),
    });
  }
});

test('a folder of Moonshine hears its language, in workers of its own', async (t) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'parley-')), 'toy-en');
  t.after(() => rmSync(join(folder, '..'), { recursive: true }));
  cpSync(toy('moonshine-a'), folder, { recursive: true });
  const { recogniser, health } = await open(t, { ASR_MODEL_DIR: folder, ASR_WORKERS: '1' });
  assert.ok(recogniser !== undefined);
  await recogniseSecond(t, recogniser);
  assert.deepEqual(recogniser.languages, ['en']);
  assert.deepEqual(health?.recogniser, {
    engine: 'moonshine',
    usable: true,
    loaded: true,
    problem: undefined,
    device: 'cpu',
    sessions: 0,
  });
  writeFileSync(join(folder, 'encoder.onnx'), 'x');
  await assert.rejects(open(t, { ASR_MODEL_DIR: folder }), {
    code: 'ENGINE_UNAVAILABLE',
    message: /encoder\.onnx is no ONNX model/,
  });
});

test('a transcription server takes the place of a checkpoint', async (t) => {
  const server = await TranscriptionServerUnderTest.open(t);
  const env = {
    ASR_BASE_URL: server.baseUrl,
    ASR_MODEL: 'whisper-1',
    ASR_API_KEY: 'sk-1',
    ASR_REALTIME: 'openai',
  };
  const opening = open(t, env);
  await until(() => server.probes.length === 1);
  server.probes[0]?.end('{"data":[]}');
  const { recogniser, health } = await opening;
  assert.equal(recogniser?.tellsPartials, true);
  assert.deepEqual(health, {
    recogniser: {
      engine: 'openai',
      usable: true,
      loaded: true,
      problem: undefined,
      device: undefined,
      sessions: 0,
    },
    aligner: undefined,
  });
  const refused = open(t, env);
  await until(() => server.probes.length === 2);
  server.probes[1]?.writeHead(401).end();
  await assert.rejects(refused, { code: 'ENGINE_UNAVAILABLE', field: 'ASR_API_KEY' });
});

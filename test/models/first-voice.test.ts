// The way from an empty clone to a neural voice, with the commands of a user: `npm start` speaks with flite,
// `npm run parley -- pull pocket-en` fetches a tiny model from a hub on loopback, `npm start` speaks with it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { POCKET_VOICES, pocketModelNamed } from '../../src/config/pocket-catalog.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { TINY_POCKET } from '../engines/pocket/pocket-folders.js';
import { ServerProcess } from '../telephone/server-process.js';
import { FakeHub, type FakeRepository } from './fake-hub.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const COMMAND = 'npm run parley -- pull pocket-en';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** The publisher's repositories with the tiny model, whose sizes its YAML states. */
function repositories(): readonly FakeRepository[] {
  const model = pocketModelNamed('pocket-en');
  assert.ok(model !== undefined);
  const { weights, voices, configuration } = model;
  const under = (name: string) => `languages/${configuration}/${name}`;
  const own = ['config.yaml', 'model.safetensors', 'tokenizer.model'].map((name) => [
    under(name),
    readFileSync(join(TINY_POCKET, name)),
  ]);
  const voice = readFileSync(join(TINY_POCKET, 'embeddings', 'mono24k.safetensors'));
  const all = POCKET_VOICES.map(({ name }) => [under(`embeddings/${name}.safetensors`), voice]);
  return [
    { id: weights.id, commit: weights.revision, files: Object.fromEntries(own) as FakeRepository['files'] },
    { id: voices.id, commit: voices.revision, files: Object.fromEntries(all) as FakeRepository['files'] },
  ];
}

/** Starts the server as `npm start` does. */
async function started(t: TestContext, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  return await ServerProcess.start(t, { SIP_ENABLED: '0', ENGINE: 'auto', PRELOAD_MODEL: '1', ...env });
}

async function healthOf(server: ServerProcess) {
  const answer = await fetch(`${server.url}/health`);
  return (await answer.json()) as { engine: string; voiceCommand?: string };
}

async function spoken({ url }: ServerProcess): Promise<{ voice: string | null; sound: Buffer }> {
  const answer = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'parley', voice: 'onyx', input: 'Good morning.', response_format: 'wav' }),
  });
  assert.equal(answer.status, 200);
  return { voice: answer.headers.get('x-voice'), sound: Buffer.from(await answer.arrayBuffer()) };
}

test('an empty clone starts with flite, and speaks with a fetched model after one command', async (t) => {
  const hub = await FakeHub.openAll(t, repositories());
  const home = temporaryFolder(t);
  const env = { HF_HOME: home, HF_ENDPOINT: hub.url };
  assert.equal(scripts['start'], 'exec node dist/src/main.js');

  const before = await started(t, env);
  assert.match(before.output, new RegExp(`"voiceCommand":"${COMMAND}"`));
  const { engine, voiceCommand } = await healthOf(before);
  assert.deepEqual([engine, voiceCommand], ['flite', COMMAND]);
  const plain = await spoken(before);
  assert.equal(plain.voice, 'kal16');
  assert.deepEqual(hub.asked, [], 'nothing is downloaded unasked');

  const [, script = '', args = ''] = /^npm run (\w+) -- (.*)$/.exec(COMMAND) ?? [];
  const environment = { PATH: process.env['PATH'] ?? '', ...env };
  const line = `${scripts[script]} ${args}`;
  const pull = spawn('sh', ['-c', line], { cwd: ROOT, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, problems, [status]] = await Promise.all([
    readAll(pull.stdout),
    readAll(pull.stderr),
    once(pull, 'close'),
  ]);
  assert.equal(status, 0, problems);
  assert.match(output, /^pocket-en \([^)]*\) is complete: .*\nStart with it: npm start\n$/);

  const after = await started(t, env);
  const now = await healthOf(after);
  assert.deepEqual([now.engine, now.voiceCommand], ['pocket', undefined]);
  const neural = await spoken(after);
  assert.equal(neural.voice, 'george');
  assert.equal(neural.sound.toString('latin1', 0, 4), 'RIFF');
  assert.ok(!neural.sound.equals(plain.sound));
});

// The profile `talk` of compose.yaml, as far as it can be tried without Docker: its command runs with the
// answers of Ollama, and its services wait for each other.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.js';
import { talkCommand } from '../../src/talk/talk-command.js';
import { systemTime } from '../../src/time.js';
import { ollama } from './chat-programs.js';
import { FakeChatServer } from './fake-chat-server.js';

interface Service {
  readonly profiles?: readonly string[];
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const COMPOSE = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');

/** The services as Compose sees them with these variables. */
function services(variables: Readonly<Record<string, string>> = {}) {
  const text = COMPOSE.replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, usual: string) => variables[name] ?? usual,
  );
  const { services: all } = parse(text, { merge: true }) as { services: Record<string, Service> };
  const { talk, ollama: server, 'talk-model': model, parley } = all;
  assert.ok(talk !== undefined && server !== undefined && model !== undefined && parley !== undefined);
  return { talk, server, model, parley };
}

test('the command of the profile finds its Ollama, takes its model and fetches voice and ears', async (t) => {
  const fake = await FakeChatServer.open(t, ollama(['llama3.2:latest', 'qwen3:4b']));
  const { talk, server } = services({ OLLAMA_PORT: String(fake.port) });
  assert.deepEqual(server.ports, [`127.0.0.1:${fake.port}:11434`]);
  const [node, program, command, ...args] = talk.command;
  assert.deepEqual([node, program, command], ['node', '/app/dist/src/main.js', 'talk']);
  assert.ok(existsSync(join(ROOT, 'dist/src/main.js')));
  const pulled: string[] = [];
  let said = '';
  const result = await talkCommand(
    args,
    { HF_HOME: '/nowhere', ...talk.environment },
    {
      fetch: globalThis.fetch,
      time: systemTime,
      out: (text) => void (said += text),
      err: (text) => void (said += text),
      ask: undefined,
      pull: async (name) => pulled.push(name) - 1,
      openBrowser: () => assert.fail('there is no browser'),
      isFreePort: () => assert.fail('the port is stated'),
      ownAddresses: [],
    },
  );
  assert.ok('env' in result, said);
  assert.deepEqual(pulled, ['light']);
  const { access, agents } = readConfig(result.env);
  const { model } = agents.agents.get('default') ?? assert.fail('no agent');
  assert.deepEqual([model.model, model.baseUrl], ['qwen3:4b', `${fake.url}/v1`]);
  await result.opened(`http://127.0.0.1:${access.port}`);
  assert.match(said, /Talk to qwen3:4b: http:\/\/127\.0\.0\.1:8081\n$/);
});

test('the parts of the profile wait for each other, and have one model and one Ollama', () => {
  const { talk, server, model } = services({ TALK_MODEL: 'gemma3:4b' });
  for (const { profiles } of [talk, server, model]) assert.deepEqual(profiles, ['talk']);
  assert.deepEqual(talk.depends_on, { 'talk-model': { condition: 'service_completed_successfully' } });
  assert.deepEqual(model.depends_on, { ollama: { condition: 'service_healthy' } });
  assert.deepEqual(server.healthcheck?.test, ['CMD', 'ollama', 'list']);
  assert.equal(model.image, server.image);
  assert.deepEqual([...(model.entrypoint ?? []), ...model.command], ['ollama', 'pull', 'gemma3:4b']);
  assert.equal(talk.command[talk.command.indexOf('--model') + 1], 'gemma3:4b');
  assert.equal(model.environment['OLLAMA_HOST'], 'http://ollama:11434');
});

test('it runs beside the server without a profile: no port is that of the other', () => {
  const { talk, parley } = services();
  const own = readConfig(talk.environment);
  const other = readConfig(parley.environment ?? {});
  assert.notEqual(own.access.port, other.access.port);
  assert.notEqual(own.sip.port, other.sip.port);
  assert.ok(COMPOSE.includes(`http://127.0.0.1:${own.access.port}/`), 'the file tells the address');
});

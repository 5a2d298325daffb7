// Dockerfile and compose.yaml against the project that they pack: what can be known without Docker.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { isLoopback, noticesOf } from '../src/config/environment.js';
import { VARIABLES } from '../src/config/variables.js';
import { readConfig } from '../src/config/config.js';
import { ignored, stagesOf, type Stage } from './dockerfile.js';

const ROOT = join(import.meta.dirname, '..', '..');
const text = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly (string | { readonly source: string; readonly read_only?: boolean })[];
  readonly healthcheck?: object;
  readonly [key: string]: unknown;
}

interface Package {
  readonly version: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
}

const STAGES = stagesOf(text('Dockerfile'));
const LAST_STAGE = STAGES.at(-1)?.name;
const IGNORE = text('.dockerignore');
const COMPOSE = text('compose.yaml');
const { services: SERVICES } = parse(COMPOSE, { merge: true }) as { services: Record<string, Service> };
const OWN = Object.entries(SERVICES).filter(([, { build }]) => build !== undefined);
const PACKAGE = JSON.parse(text('package.json')) as Package;
const PINNED = /^[\w./-]+:\d+\.\d+\.\d+(-[\w.-]+)?$/;

function stage(name: string | undefined): Stage {
  const found = STAGES.find((one) => one.name === name);
  return found ?? assert.fail(`the Dockerfile has no stage ${name}`);
}

/** Arguments of this instruction in a stage and its base stages, base stages first. */
function saidIn(name: string | undefined, word: string): readonly string[] {
  const { base, instructions } = stage(name);
  const before = STAGES.some((one) => one.name === base) ? saidIn(base, word) : [];
  return [...before, ...instructions.filter((one) => one.word === word).map((one) => one.text)];
}

/** NAME=value pairs of ENV or LABEL. */
function pairsIn(name: string | undefined, word: string): Record<string, string> {
  const pairs = saidIn(name, word).flatMap((line) => [...line.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)]);
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value.replaceAll('"', '')]));
}

/** With compose.yaml's default values. */
function byDefault(value: unknown): string {
  return String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
}

function environmentOf({ build, environment = {} }: Service): Record<string, string> {
  const own = Object.entries(environment).map(([name, value]) => [name, byDefault(value)]);
  return { ...pairsIn(build?.target, 'ENV'), ...(Object.fromEntries(own) as Record<string, string>) };
}

interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly destination: string;
}

function copiesIn(name: string | undefined): readonly Copy[] {
  return saidIn(name, 'COPY').map((line) => {
    const paths = line.split(/\s+/).filter((part) => !part.startsWith('--'));
    const destination = paths.pop() ?? '';
    return { from: /--from=(\S+)/.exec(line)?.[1], sources: paths, destination };
  });
}

/** The files of a folder of the repository, by path from its top; a file is its own. */
function filesIn(folder: string): string[] {
  const path = join(ROOT, folder);
  if (statSync(path).isFile()) return [folder];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => posix.join(folder, entry.parentPath.slice(path.length + 1), entry.name));
}

test('images are made from versions that are stated, and of a Node that the project runs on', () => {
  const bases = STAGES.map(({ base }) => base).filter((base) => !STAGES.some(({ name }) => name === base));
  for (const base of bases) assert.match(base, PINNED);
  const node = bases.filter((base) => base.startsWith('node:'));
  assert.equal(node.length, 1, 'addon and server meet the Node that they were built with');
  const [, major = '', minor = ''] = /^node:(\d+)\.(\d+)/.exec(node[0] ?? '') ?? [];
  const [, leastMajor = '', leastMinor = ''] = /^>=(\d+)\.(\d+)$/.exec(PACKAGE.engines.node) ?? [];
  assert.ok(
    Number(major) > Number(leastMajor) || (major === leastMajor && Number(minor) >= Number(leastMinor)),
  );
  assert.equal(Number(major) % 2, 0, 'odd versions never become LTS');
  assert.match(
    text('README.md'),
    new RegExp(`Node ${major} \\(${leastMajor}\\.${leastMinor} or later works\\)`),
  );
});

test('compose builds stages that are there, and the one without a GPU is what docker build makes unasked', () => {
  assert.deepEqual(OWN.map(([name]) => name).toSorted(), ['gateway', 'gpu', 'parley', 'talk']);
  for (const [, { build }] of OWN) assert.ok(stage(build?.target));
  assert.equal(SERVICES.parley?.build?.target, LAST_STAGE);
  const given = (name: string | undefined) => copiesIn(name).flatMap(({ sources }) => sources);
  const more = given('gpu').filter((path) => !given('cpu').includes(path));
  assert.deepEqual(
    more.map((path) => posix.basename(path)),
    ['parley_cuda.so'],
  );
});

test('what is copied is in the repository, or in the stage that it is copied from, and is let through', () => {
  for (const { name } of STAGES) {
    for (const { from, sources } of copiesIn(name)) {
      if (from !== undefined) assert.ok(stage(from));
      for (const source of from === undefined ? sources : []) {
        assert.ok(existsSync(join(ROOT, source)), source);
        assert.ok(
          filesIn(source).some((file) => !ignored(IGNORE, file)),
          `${source} is left out by .dockerignore`,
        );
      }
    }
  }
});

test('settings, keys, tests and what was built outside never come near an image', () => {
  for (const path of [
    '.env',
    '.git/config',
    'model/model.safetensors',
    'native/build/Release/parley.node',
    'native/build-gpu/parley_cuda.so',
    'native/test/golden/tiny.bin',
    'node_modules/fastify/package.json',
    'test/container.test.ts',
    'voices/voice_1/sample.wav',
  ]) {
    assert.equal(ignored(IGNORE, path), true, path);
  }
  assert.match(text('.gitignore'), /^\.env$/m);
});

test('every source of the server, the addon and the CUDA plug-in is there when it is compiled', () => {
  const has = (name: string, file: string) =>
    copiesIn(name).some(({ from, sources }) =>
      sources.some((source) => from === undefined && (file === source || file.startsWith(`${source}/`))),
    ) && !ignored(IGNORE, file);
  const { include } = JSON.parse(text('tsconfig.build.json')) as { include: string[] };
  const server = [...include.flatMap(filesIn), 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  const cmake = (file: string) =>
    [...text(file).matchAll(/^\s+((?:audio|binding|kernels|media|model|runtime)\/\S+\.(?:cc|cu))\)?$/gm)].map(
      ([, path]) => `native/${path}`,
    );
  const kernels = [
    ...cmake('native/cmake/kernels.cmake'),
    ...filesIn('native/cmake'),
    'native/CMakeLists.txt',
  ];
  const addon = [...kernels, ...cmake('native/CMakeLists.txt'), 'native/package.json'];
  const script = 'native/drop-moved-build.sh';
  assert.ok(server.includes('src/main.ts') && addon.includes('native/binding/addon.cc'));
  assert.ok(kernels.some((file) => file.endsWith('.cu')));
  for (const file of [...server, ...addon, script])
    assert.ok(has('build', file), `${file} is not in the stage build`);
  for (const file of [...kernels, 'native/build-cuda.sh', script]) assert.ok(has('cuda', file), file);
});

test('the build stage has what setup.sh asks for; headers lie beside its Node', () => {
  const asked = /^need_for_build\(\) \{\n(.*?)^\}/ms.exec(text('setup.sh'))?.[1] ?? '';
  const packages = [...asked.matchAll(/^ {2}need (\S+)/gm)].map(([, name = '']) => name);
  assert.ok(packages.includes('cmake'));
  const installs = saidIn('build', 'RUN').find((line) => line.includes('apt-get install')) ?? '';
  const missing = packages.filter((name) => !installs.split(/\s+/).includes(name));
  assert.deepEqual(missing, ['libssl-dev', 'libuv1-dev']);
});

test('an image holds the packages that the server imports, and of those that only build it none', () => {
  const sources = ['src', 'sip', 'signaling'].flatMap(filesIn).map(text).join('\n');
  const imported = (name: string) => sources.includes(`'${name}'`) || sources.includes(`'${name}/`);
  const builders = Object.keys(PACKAGE.dependencies).filter((name) => !imported(name));
  assert.ok(builders.includes('typescript') && !builders.includes('fastify'));
  const runs = saidIn('build', 'RUN');
  const removed = runs.find((line) => line.startsWith('npm uninstall'))?.split('&&')[0] ?? '';
  const names = removed.split(/\s+/).filter((word) => /^(@|[a-z])/.test(word));
  assert.deepEqual(names.slice(2).toSorted(), builders.toSorted());
});

test('no package under the GPL goes into an image', () => {
  assert.ok(saidIn('build', 'RUN').some((line) => /npm ci --omit=dev /.test(line)));
  const { packages } = JSON.parse(text('package-lock.json')) as {
    packages: Record<string, { license?: string; dev?: boolean }>;
  };
  const ofGpl = Object.entries(packages).filter(([, { license = '' }]) => /(?:^|[ (])A?GPL/.test(license));
  assert.ok(ofGpl.length > 0, 'the tests use one');
  assert.deepEqual(
    ofGpl.filter(([, { dev }]) => dev !== true),
    [],
  );
});

test('the server finds its parts where the image has them', () => {
  const placed = copiesIn(LAST_STAGE).flatMap(({ sources, destination }) =>
    sources.map((source) => (destination.endsWith('/') ? destination + posix.basename(source) : destination)),
  );
  for (const part of [
    'dist',
    'node_modules',
    'public',
    'native/build/Release/parley.node',
    './LICENSE',
    './NOTICE',
  ]) {
    assert.ok(placed.includes(part), part);
  }
  assert.match(text('src/addon.ts'), /join\('native', 'build', 'Release', 'parley.node'\)/);
  const plugin = copiesIn('gpu').at(-1)?.destination;
  assert.equal(plugin, 'native/build/Release/parley_cuda.so');
  assert.match(text('src/engines/native/native-device.ts'), /'parley_cuda\.so'/);
  const workdir = saidIn(LAST_STAGE, 'WORKDIR').at(-1);
  for (const word of ['ENTRYPOINT', 'HEALTHCHECK']) {
    const [script = ''] = /\/[\w/]+docker-[a-z]+\.\w+/.exec(saidIn(LAST_STAGE, word).at(-1) ?? '') ?? [];
    assert.ok(placed.includes(posix.relative(workdir ?? '', script)), script);
  }
});

test('a server in a container is nobody that may do more than speak', () => {
  assert.match(saidIn(LAST_STAGE, 'USER').at(-1) ?? '', /^[1-9]\d*:[1-9]\d*$/);
  for (const [name, service] of Object.entries(SERVICES)) {
    assert.deepEqual([name, service.cap_drop], [name, ['ALL']]);
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    const restart = name === 'talk-model' ? 'no' : 'unless-stopped'; // it fetches a model and ends
    assert.deepEqual([service.read_only, service.restart], [true, restart], name);
    for (const key of ['privileged', 'cap_add', 'pid', 'ipc', 'devices'])
      assert.ok(!(key in service), `${name}: ${key}`);
    for (const key of ['mem_limit', 'pids_limit']) assert.ok(key in service, `${name}: ${key}`);
    assert.match(JSON.stringify(service.logging), /"max-size":"\d+m","max-file":"\d+"/, name);
    for (const volume of service.volumes ?? []) {
      assert.ok(typeof volume === 'string' ? /^[a-z]+:/.test(volume) : volume.read_only, name);
    }
  }
  assert.doesNotMatch(COMPOSE, /docker\.sock/);
});

test('voices and tables that are stored and models that are fetched are in volumes, which the user of the image can write', () => {
  const env = pairsIn(LAST_STAGE, 'ENV');
  const { VOICES_DIR: voices = '', KEY_TABLES_DIR: tables = '', HF_HOME: models = '' } = env;
  const made = saidIn(LAST_STAGE, 'RUN').find((line) => line.startsWith('install -d -o node -g node'));
  assert.match(made ?? '', /"\$VOICES_DIR" "\$KEY_TABLES_DIR" "\$HF_HOME"$/);
  for (const [name, { volumes = [] }] of OWN) {
    assert.ok(volumes.includes(`voices:${voices}`), name);
    assert.ok(volumes.includes(`tables:${tables}`), name);
    assert.ok(volumes.includes(`models:${models}`), name);
  }
});

test('by default nobody but this machine is served', () => {
  for (const [name, service] of Object.entries(SERVICES)) {
    if (service.build === undefined) {
      assert.equal('network_mode' in service, false, name);
      for (const port of service.ports ?? []) assert.match(byDefault(port), /^127\.0\.0\.1:\d+:\d+$/);
      continue;
    }
    assert.deepEqual([service.network_mode, service.ports], ['host', undefined], name);
    const { access, sip } = readConfig(environmentOf(service));
    assert.deepEqual([[access.host, ...sip.hosts].every(isLoopback), access.allowOpen], [true, false], name);
  }
});

test('every variable that is set is known to whom it is for, and none to the server as a slip of the pen', () => {
  const health = [...text('native/docker-health.mjs').matchAll(/setting\('(\w+)'/g)].map(([, name]) => name);
  const entrypoint = [...text('native/docker-entrypoint.sh').matchAll(/\b(GPU_\w+)/g)].map(
    ([, name]) => name,
  );
  const toolkit = ['NVIDIA_VISIBLE_DEVICES', 'NVIDIA_DRIVER_CAPABILITIES'];
  const hub = 'HF_HOME'; // where the programs of the hub keep models, and `pull`
  const known = new Set([...Object.keys(VARIABLES), ...health, ...entrypoint, hub]);
  assert.ok(known.has('RESTART_AFTER') && known.has('GPU_CLOCK'));
  for (const [name, service] of OWN) {
    const allowed = name === 'gpu' ? toolkit : [];
    const strange = Object.keys(environmentOf(service)).filter(
      (one) => !known.has(one) && !allowed.includes(one),
    );
    assert.deepEqual(strange, [], name);
    assert.deepEqual(readConfig(environmentOf(service)).notices, [], name);
  }
  // Variables that only compose.yaml reads reach the containers, too, with the rest of .env.
  const own = [...COMPOSE.matchAll(/\$\{(\w+):-/g)].map(([, name = '']) => name);
  assert.ok(own.includes('MODEL'));
  assert.deepEqual(
    own.filter((name) => name in VARIABLES),
    [],
  );
  const set = Object.fromEntries([...own, ...health].map((name) => [name, '1']));
  assert.deepEqual(noticesOf(set, Object.keys(VARIABLES), { voice: true, hearing: true }), []);
});

test('ports and times are those of the server', () => {
  const config = readConfig({});
  assert.deepEqual(saidIn(LAST_STAGE, 'EXPOSE'), [String(config.access.port)]);
  const [, port] = /setting\('PORT', '(\d+)'\)/.exec(text('native/docker-health.mjs')) ?? [];
  assert.equal(port, String(config.access.port));
  assert.equal(saidIn(LAST_STAGE, 'STOPSIGNAL').at(-1), 'SIGTERM');
  for (const [name, { stop_grace_period: grace }] of OWN) {
    const seconds = Number(/^(\d+)s$/.exec(byDefault(grace))?.[1]);
    assert.ok(seconds >= config.operation.drainTimeoutMs / 1000 + 10, `${name}: ${seconds} s`);
  }
  const [, limit] = /LIMIT_MS = (\d+)/.exec(text('native/docker-health.mjs')) ?? [];
  const [, timeout] = /--timeout=(\d+)s/.exec(saidIn(LAST_STAGE, 'HEALTHCHECK').at(-1) ?? '') ?? [];
  assert.ok(Number(limit) < Number(timeout) * 1000);
});

test('what the health check takes for speechless is what the server says', () => {
  const told = /enum: (\['ok'[^\]]*\])/.exec(text('src/api/status/status-routes.ts'))?.[1] ?? '[]';
  const statuses = parse(told) as string[];
  const [, list = '[]'] = /SPEECHLESS = (\[[^\]]*\])/.exec(text('native/docker-health.mjs')) ?? [];
  assert.deepEqual(
    (parse(list) as string[]).toSorted(),
    statuses.filter((one) => !['ok', 'draining'].includes(one)).toSorted(),
  );
});

test('images bear the version of the project, and those of others one that is stated', () => {
  for (const [name, { image, build }] of Object.entries(SERVICES)) {
    assert.match(image, PINNED);
    if (build === undefined) continue;
    assert.equal(image, `parley:${PACKAGE.version}${name === 'gpu' ? '-gpu' : ''}`);
    const labels = pairsIn(build.target, 'LABEL');
    assert.equal(labels['org.opencontainers.image.version'], PACKAGE.version);
    assert.equal(labels['org.opencontainers.image.licenses'], PACKAGE.license);
  }
  const stated = [...text('Dockerfile').matchAll(/ -t (\S+)/g)].map(([, tag]) => tag);
  assert.deepEqual(stated, [`parley:${PACKAGE.version}`, `parley:${PACKAGE.version}-gpu`]);
});

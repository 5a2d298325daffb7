import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

const SETUP = join(import.meta.dirname, '..', '..', 'setup.sh');
const SHELL_TOOLS = ['bash', 'env', 'readlink', 'timeout', 'touch', 'true'];
const BUILD_TOOLS = ['c++', 'make', 'cmake', 'python3'];
const FULL_PACKAGES =
  'openssl chromium ffmpeg curl redis-tools sip-tester baresip-core linphone-cli kamailio rtpengine-daemon ' +
  'python3-aiortc python3-websockets python3-onnx firefox-esr coturn nginx caddy python3-gst-1.0 ' +
  'gir1.2-gst-plugins-bad-1.0 gstreamer1.0-plugins-good ' +
  'gstreamer1.0-plugins-bad gstreamer1.0-plugins-base gstreamer1.0-nice pocketsphinx-testdata';
const GST_PLUGINS = ['rtp', 'webrtc', 'opus', 'nice'];

interface Machine {
  /** The folder of the stand-ins. */
  readonly bin: string;
  readonly run: (argument: string) => { status: number | null; stderr: string; ms: number };
  /** The calls of apt-get, one line each. */
  readonly aptCalls: () => string[];
}

/**
 * A machine whose PATH holds stand-ins: each tool named, an `id` that answers `uid`, and an apt-get that
 * takes notes.
 */
function machine(t: TestContext, uid: number, tools: readonly string[], apt = 'exit 0'): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'parley-setup-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, 'bin');
  const notes = join(folder, 'notes');
  mkdirSync(bin);
  const headers = join(folder, 'include', 'node', 'openssl');
  mkdirSync(headers, { recursive: true });
  for (const header of ['evp.h', '../uv.h']) writeFileSync(join(headers, header), '');
  writeFileSync(notes, '');
  const standIn = (name: string, body: string): void => {
    writeFileSync(join(bin, name), `#!/bin/bash\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const tool of SHELL_TOOLS) symlinkSync(`/usr/bin/${tool}`, join(bin, tool));
  for (const tool of tools) standIn(tool, 'exit 0');
  standIn('id', `echo ${uid}`);
  standIn('sleep', 'exit 0');
  standIn('apt-get', `echo "$*" >> ${notes}\n${apt}`);
  return {
    bin,
    run(argument) {
      const startedAt = performance.now();
      const env = {
        PATH: bin,
        npm_node_execpath: join(bin, 'node'),
        KAMAILIO_PATH: join(bin, 'kamailio'),
        NGINX_PATH: join(bin, 'nginx'),
        PYTHON_PATH: join(bin, 'aiortc-python3'),
        GST_PATH: bin,
        POCKETSPHINX_DATA: bin,
      };
      const { status, stderr } = spawnSync(SETUP, [argument], { env, encoding: 'utf8', timeout: 20_000 });
      return { status, stderr, ms: performance.now() - startedAt };
    },
    aptCalls: () => readFileSync(notes, 'utf8').split('\n').filter(Boolean),
  };
}

test('with everything in place the set-up ends at once and leaves apt alone', (t) => {
  const { run, aptCalls } = machine(t, 1000, [
    ...BUILD_TOOLS,
    'aiortc-python3',
    'chromium',
    'ffmpeg',
    'ffprobe',
    'curl',
    'redis-cli',
    'redis-check-rdb',
    'openssl',
    'sipp',
    'baresip',
    'linphonec',
    'kamailio',
    'rtpengine',
    'firefox-esr',
    'turnserver',
    'nginx',
    'caddy',
    'goforward.raw',
    ...GST_PLUGINS.map((plugin) => `libgst${plugin}.so`),
  ]);
  const { status, stderr, ms } = run('full');
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.ok(ms < 1000);
  assert.deepEqual(aptCalls(), []);
});

test('without the right to install it stops at once with one line that says what to do', (t) => {
  const { run, aptCalls } = machine(t, 1000, ['c++', 'make', 'python3']);
  const { status, stderr, ms } = run('full');
  assert.equal(status, 1);
  assert.equal(
    stderr,
    `parley: missing cmake ${FULL_PACKAGES}; install with: sudo apt-get install -y cmake ${FULL_PACKAGES}\n`,
  );
  assert.ok(ms < 1000);
  assert.deepEqual(aptCalls(), []);
});

test('the quick tests ask for no browser, telephone or codec program', (t) => {
  assert.match(machine(t, 1000, BUILD_TOOLS).run('test').stderr, /^parley: missing openssl; install with/);
});

test('a build asks for no browser', (t) => {
  assert.equal(machine(t, 1000, BUILD_TOOLS).run('build').status, 0);
});

test('root installs what is missing, waiting a bounded time for the lock', (t) => {
  const { run, aptCalls } = machine(t, 0, BUILD_TOOLS);
  assert.equal(run('full').status, 0);
  assert.deepEqual(aptCalls(), [
    `-qq -o DPkg::Lock::Timeout=120 install -y --no-install-recommends ${FULL_PACKAGES}`,
  ]);
});

test('a user with sudo installs through it', (t) => {
  const { bin, run, aptCalls } = machine(t, 1000, BUILD_TOOLS);
  writeFileSync(join(bin, 'sudo'), '#!/bin/bash\nshift\nexec "$@"\n', { mode: 0o755 });
  assert.equal(run('full').status, 0);
  assert.equal(aptCalls().length, 1);
});

test('old package lists are brought up to date, then the packages are tried again', (t) => {
  const failsOnce = '[[ $* == *update* ]] && touch "$0.done"\n[[ $* == *update* || -e "$0.done" ]]';
  const { run, aptCalls } = machine(t, 0, BUILD_TOOLS, failsOnce);
  assert.equal(run('full').status, 0);
  assert.deepEqual(
    aptCalls().map((call) => call.replace(/^.*Timeout=120 /, '')),
    [
      `install -y --no-install-recommends ${FULL_PACKAGES}`,
      'update',
      `install -y --no-install-recommends ${FULL_PACKAGES}`,
    ],
  );
});

test('where an init system runs, the services of what is installed are never started nor left masked', (t) => {
  for (const apt of ['exit 0', 'exit 100']) {
    const { bin, run, aptCalls } = machine(t, 0, BUILD_TOOLS, apt);
    const systemctl = `#!/bin/bash\necho "systemctl $*" >> ${join(bin, '..', 'notes')}\n`;
    writeFileSync(join(bin, 'systemctl'), systemctl, { mode: 0o755 });
    run('full');
    const units = 'kamailio.service rtpengine-daemon.service coturn.service nginx.service caddy.service';
    const calls = aptCalls();
    assert.equal(calls[0], `systemctl --quiet mask ${units}`);
    assert.match(
      calls[1] ?? '',
      / install .* kamailio rtpengine-daemon python3-aiortc python3-websockets python3-onnx firefox-esr coturn nginx caddy /,
    );
    assert.deepEqual(calls.slice(-2), [
      `systemctl --quiet unmask ${units}`,
      `systemctl --quiet disable ${units}`,
    ]);
  }
});

test('what starts no service masks none', (t) => {
  const tools = [...BUILD_TOOLS, 'kamailio', 'rtpengine', 'turnserver', 'nginx', 'caddy', 'systemctl'];
  const { bin, run, aptCalls } = machine(t, 0, tools);
  const systemctl = `#!/bin/bash\necho "systemctl $*" >> ${join(bin, '..', 'notes')}\n`;
  writeFileSync(join(bin, 'systemctl'), systemctl, { mode: 0o755 });
  assert.equal(run('full').status, 0);
  assert.equal(aptCalls().length, 1);
});

test('an installation that fails is a failure that names the packages', (t) => {
  const { status, stderr } = machine(t, 0, BUILD_TOOLS, 'exit 100').run('full');
  assert.equal(status, 1);
  const refusal = `^parley: missing ${FULL_PACKAGES} \\(apt-get failed.*\\); install with: sudo apt-get`;
  assert.match(stderr, new RegExp(refusal, 'm'));
});

test('an unknown purpose is refused with the usage', (t) => {
  assert.equal(machine(t, 1000, BUILD_TOOLS).run('everything').status, 2);
});

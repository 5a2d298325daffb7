// The server as a process of its own: how signals end it, and how it tells of
// settings that it cannot start with.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { freePorts } from '../interop/telephone/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { callFrom, field, hangUp, okTo, type RawCall, refusalOf, statusOf, UdpCaller } from './raw-caller.js';

const START_LIMIT_MS = 60_000;
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.js');

class Process {
  readonly port: number;
  output = '';
  readonly #child: ChildProcess;
  /** Exit code. */
  readonly exited: Promise<number | null>;

  constructor(port: number, environment: Readonly<Record<string, string>>) {
    this.port = port;
    const own = { PATH: process.env['PATH'] ?? '', PORT: '0', ENGINE: 'flite', LOG_LEVEL: 'info', PRELOAD_MODEL: '0', SIP_PORT: `${port}` };
    this.#child = spawn(process.execPath, [MAIN], { env: { ...own, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout?.on('data', (bytes: Buffer) => (this.output += bytes.toString()));
    this.#child.stderr?.on('data', (bytes: Buffer) => (this.output += bytes.toString()));
    this.exited = once(this.#child, 'close').then(([code]) => code as number | null);
  } // prettier-ignore

  static async start(t: TestContext, environment: Readonly<Record<string, string>> = {}): Promise<Process> {
    const started = await kept(t, new Process(await freePorts(2), environment));
    await started.said('parley listens');
    return started;
  }

  /** Resolves when it has said so; a machine with much to do may take its time over a start. */
  async said(words: string): Promise<void> {
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    while (!this.output.includes(words)) {
      const exited = this.exited.then(() => Promise.reject(new Error(this.output)));
      await Promise.race([once(this.#child.stdout as Readable, 'data', { signal: limit }), exited]);
    }
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#child.kill(name);
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}

async function talking(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const server = await Process.start(t, environment);
  const caller = await kept(t, UdpCaller.open({ host: '127.0.0.1', port: server.port }));
  return { server, caller, call: await callFrom(caller) };
}

async function answersBye(caller: UdpCaller, { callId }: RawCall): Promise<void> {
  const bye = () =>
    caller.heard.find((message) => message.startsWith('BYE') && field(message, 'Call-ID') === callId);
  await until(() => bye() !== undefined);
  caller.send(okTo(bye() ?? ''));
}

test('SIGTERM: new calls are refused, the one that stands goes on, and with its end the process ends well', async (t) => {
  const { server, caller, call } = await talking(t);
  server.signal('SIGTERM');
  await server.said('parley closes');
  const refused = await refusalOf(caller);
  assert.equal(statusOf(refused), 503);
  assert.ok(Number(field(refused, 'Retry-After')) > 0);
  assert.ok(!caller.heard.some((message) => message.startsWith('BYE')));
  await hangUp(caller, call);
  assert.equal(await server.exited, 0);
});

test('SIGTERM: when DRAIN_TIMEOUT is over, callers are hung up on', async (t) => {
  const { server, caller, call } = await talking(t, { DRAIN_TIMEOUT: '1' });
  server.signal('SIGTERM');
  await answersBye(caller, call);
  assert.equal(await server.exited, 0);
});

test('SIGINT hangs up at once', async (t) => {
  const { server, caller, call } = await talking(t);
  server.signal('SIGINT');
  await answersBye(caller, call);
  assert.equal(await server.exited, 0);
});

test('a stated port that is taken is a mistake of the configuration, by its name', async (t) => {
  const port = await freePorts(2);
  const holder = createSocket('udp4').bind(port, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  const server = await kept(t, new Process(port, {}));
  assert.equal(await server.exited, 78);
  assert.match(server.output, new RegExp(`cannot listen on UDP 127\\.0\\.0\\.1:${port}.*SIP_PORT`));
});

test('every mistake of every file is told at once, with its variable and its place, and no password', async (t) => {
  const folder = new ScratchFolder();
  t.after(() => folder.remove());
  const file = (name: string, text: string): string => {
    writeFileSync(folder.at(name), text);
    return folder.at(name);
  };
  const server = await kept(t, new Process(await freePorts(2), {
    SIP_ROUTES: file('routes', '{"routes":[{"to":"a","say":{}},{"to":"b"}]}'),
    SIP_TRUNKS: file('trunks', '{"trunks":[{"name":"one"}]}'),
    SIP_USERS_FILE: file('users', 'anna:hush-hush\nno colon\nanna:hush-hush\n'),
    SIP_TLS_PORT: '0', SIP_TLS_CERT: folder.at('absent.pem'), SIP_TLS_KEY: folder.at('absent.key'),
  })); // prettier-ignore
  assert.equal(await server.exited, 78);
  for (const place of ['SIP_ROUTES', 'SIP_TRUNKS', 'SIP_USERS_FILE.*line 2', 'SIP_USERS_FILE.*line 3', 'SIP_TLS_CERT', 'SIP_TLS_KEY']) {
    assert.match(server.output, new RegExp(place));
  }
  assert.equal([...server.output.matchAll(/SIP_ROUTES/g)].length, 2, server.output);
  assert.ok(!server.output.includes('hush'));
}); // prettier-ignore

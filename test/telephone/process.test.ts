// The server as a process of its own: how signals end it, and how it tells of
// settings that it cannot start with.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { freePorts } from '../interop/telephone/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { ServerProcess } from './server-process.js';
import { callFrom, field, hangUp, okTo, type RawCall, refusalOf, statusOf, UdpCaller } from './raw-caller.js';

async function talking(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const server = await ServerProcess.start(t, environment);
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
  const server = await kept(t, new ServerProcess(port, {}));
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
  const server = await kept(t, new ServerProcess(await freePorts(2), {
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

// The server as a process of its own: how signals end it, how it reports invalid settings, and on which
// addresses the telephone listens.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { ScratchFolder } from '../interop/telephone/program.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { callFrom, field, hangUp, okTo, type RawCall, refusalOf, statusOf, UdpCaller } from './raw-caller.js';
import { ServerProcess } from './server-process.js';

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

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal}: streams of events close after every call has told its end`, async (t) => {
    const server = await ServerProcess.start(t, { DRAIN_TIMEOUT: '1', LOG_LEVEL: 'info' });
    const caller = await kept(t, UdpCaller.open({ host: '127.0.0.1', port: server.port }));
    const all = await fetch(`${server.url}/v1/events?after=0`);
    const calls: RawCall[] = [];
    for (let n = 0; n < 12; n++) calls.push(await callFrom(caller));
    const listed = (await (await fetch(`${server.url}/v1/calls`)).json()) as { data: { id: string }[] };
    assert.equal(listed.data.length, 12);
    const own = await Promise.all(listed.data.map(({ id }) => fetch(`${server.url}/v1/calls/${id}/events`)));
    const told = Promise.all([all, ...own].map((response) => response.text()));
    server.signal(signal);
    await Promise.all(calls.map((call) => answersBye(caller, call)));
    const [ofAll = '', ...ofOwn] = await told;
    assert.equal(ofAll.match(/^event: call\.ended$/gm)?.length, 12);
    assert.ok(ofOwn.every((text) => text.includes(`"state":"ended"`)));
    assert.equal(await server.exited, 0);
  });
}

test('without descriptors the log has a line at once, calls are refused, and a line tells of the end', async (t) => {
  const most = 400; // the loader of modules opens over 200 files at once
  const server = await ServerProcess.start(t, { ENCODER_WORKERS: '1' }, most);
  assert.match(
    server.output,
    /the settings may need \d+ file descriptors \(.*256 for MAX_SOCKETS, 3 for each of 200 MAX_CALLS\), and the limit is 400: raise it \(`ulimit -n`/,
  );
  const caller = await kept(t, UdpCaller.open({ host: '127.0.0.1', port: server.port }));
  const { port, hostname } = new URL(server.url);
  const clients = Array.from({ length: most }, () => connect(Number(port), hostname).on('error', () => {}));
  t.after(() => clients.forEach((client) => client.destroy()));
  await server.said('"msg":"file descriptors have run out"');
  assert.match(server.output, /"level":"error",.*"code":"EMFILE","detail":"new connections are closed/);
  const refused = await refusalOf(caller);
  assert.equal(statusOf(refused), 503);
  await server.said('"msg":"no media for a call"');
  assert.match(
    server.output,
    /"code":"CALL_LIMIT","detail":"an RTP port cannot be opened: Too many open files"/,
  );
  for (const client of clients) client.destroy();
  await server.said('"msg":"file descriptors are free again"');
  assert.equal(server.output.split('have run out').length, 2);
  assert.equal((await fetch(`${server.url}/v1/models`)).status, 200);
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
  const server = await kept(
    t,
    new ServerProcess(await freePorts(2), {
      SIP_ROUTES: file('routes', '{"routes":[{"to":"a","say":{}},{"to":"b"}]}'),
      SIP_TRUNKS: file('trunks', '{"trunks":[{"name":"one"}]}'),
      SIP_USERS_FILE: file('users', 'anna:hush-hush\nno colon\nanna:hush-hush\n'),
      SIP_TLS_PORT: '0',
      SIP_TLS_CERT: folder.at('absent.pem'),
      SIP_TLS_KEY: folder.at('absent.key'),
    }),
  );
  assert.equal(await server.exited, 78);
  for (const place of [
    'SIP_ROUTES',
    'SIP_TRUNKS',
    'SIP_USERS_FILE.*line 2',
    'SIP_USERS_FILE.*line 3',
    'SIP_TLS_CERT',
    'SIP_TLS_KEY',
  ]) {
    assert.match(server.output, new RegExp(place));
  }
  assert.equal([...server.output.matchAll(/SIP_ROUTES/g)].length, 2, server.output);
  assert.ok(!server.output.includes('hush'));
});

test('callers are answered at each address, with signalling and sound where they called', async (t) => {
  const server = await kept(t, TelephoneServer.start({ SIP_HOST: '127.0.0.1,127.0.0.8,::1' }));
  assert.equal((server.telephone.health['listening'] as string[]).length, 6);
  for (const host of ['127.0.0.1', '127.0.0.8', '::1']) {
    const from = host === '::1' ? host : '127.0.0.1';
    const caller = await kept(t, UdpCaller.open({ host, port: server.address.port }, from));
    const call = await callFrom(caller);
    const shown = host === '::1' ? '[::1]' : host;
    assert.ok((field(call.answer, 'Contact') ?? '').includes(`@${shown}:`), call.answer);
    assert.match(call.answer, new RegExp(`^c=IN IP[46] ${host.replaceAll('.', '\\.')}\\r$`, 'm'));
    await hangUp(caller, call);
  }
  await until(() => server.telephone.size === 0);
});

test('SIP_ENABLED=0 opens no telephone, and its addresses say so', async (t) => {
  const config = readConfig({
    PORT: '0',
    ENGINE: 'flite',
    LOG_LEVEL: 'silent',
    PRELOAD_MODEL: '0',
    SIP_ENABLED: '0',
  });
  const server = await kept(t, startServer(config));
  assert.equal(server.telephone, undefined);
  assert.equal((await fetch(`${server.url}/v1/calls`, { method: 'POST' })).status, 501);
});

// The whole server when something fails in a call or around it: the call ends or goes on as it should,
// callers get a response, and closing leaves nothing behind.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import type { Environment } from '../../src/config/environment.js';
import { readConfig } from '../../src/config/config.js';
import { startServer, type Server } from '../../src/main.js';
import { Engines } from '../../src/engines/routing.js';
import { ScriptedEngine } from '../fakes/engines.js';
import { until } from '../fakes/until.js';
import { freePorts } from '../fakes/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import {
  acceptanceOf,
  callFrom,
  field,
  finalOf,
  hangUp,
  idOf,
  okTo,
  refusalOf,
  request,
  statusOf,
  UdpCaller,
} from './raw-caller.js';

const CLOSE_LIMIT_MS = 9000; // a far end is waited for 4 s, trunks besides

test('MAX_CALLS and the ports of RTP are limits that callers are told, and there is room after them', async (t) => {
  const first = await freePorts(4);
  for (const environment of [
    { MAX_CALLS: '1' },
    { RTP_PORT_MIN: `${first}`, RTP_PORT_MAX: `${first + 1}`, RTP_PORT_DRAIN: '0' },
  ]) {
    const server = await kept(t, TelephoneServer.start(environment));
    const caller = await kept(t, UdpCaller.open(server.address));
    const call = await callFrom(caller);
    const refused = await refusalOf(caller);
    assert.equal(statusOf(refused), 503);
    assert.ok(Number(field(refused, 'Retry-After')) > 0);
    await hangUp(caller, call);
    await until(() => server.telephone.size === 0);
    await hangUp(caller, await callFrom(caller));
  }
});

test('draining refuses calls in and out and says so to load balancers, and the call that stands goes on', async (t) => {
  const server = await kept(t, TelephoneServer.start());
  const caller = await kept(t, UdpCaller.open(server.address));
  const call = await callFrom(caller);
  const health = async () => {
    const response = await fetch(`${server.server.url}/health`);
    return [response.status, ((await response.json()) as { status: string }).status];
  };
  assert.deepEqual(await health(), [200, 'ok']);
  const drained = server.server.drain(60_000);
  assert.deepEqual(await health(), [503, 'draining']);
  const refused = await refusalOf(caller);
  assert.equal(statusOf(refused), 503);
  assert.ok(Number(field(refused, 'Retry-After')) > 0);
  const placed = await place(server.server, { to: `sip:a@127.0.0.1:${caller.local.port}` });
  assert.equal(placed.status, 503);
  assert.ok(Number(placed.headers.get('retry-after')) > 0);
  caller.send(request(caller, { method: 'UPDATE', ...idOf(call), cseq: 2 }));
  assert.equal(statusOf(await finalOf(caller, call.callId, 'UPDATE')), 200);
  caller.send(request(caller, { method: 'BYE', ...idOf(call), cseq: 3 }));
  assert.equal(statusOf(await finalOf(caller, call.callId, 'BYE')), 200);
  await drained;
});

test('closing ends calls in every state within its bound, and leaves no socket and no timer', async (t) => {
  const before = resources();
  const server = await TelephoneServer.start();
  const caller = await kept(t, UdpCaller.open(server.address));
  const callee = await kept(t, UdpCaller.open(server.address));
  const vanished = await UdpCaller.open(server.address);
  const standing = await callFrom(caller);
  await callFrom(vanished);
  await callFrom(caller, {}, false); // answered, and never acknowledged
  const dialled = async (name: string, status?: number) => {
    const response = await place(server.server, { to: `sip:${name}@127.0.0.1:${callee.local.port}` });
    assert.equal(response.status, 201);
    const invite = () => callee.heard.find((message) => message.startsWith(`INVITE sip:${name}@`));
    await until(() => invite() !== undefined);
    if (status !== undefined) callee.send(okTo(invite() ?? '', status, 'there'));
  };
  await dialled('silent');
  await dialled('rings', 180);
  await place(server.server, { to: 'sip:a@nowhere.invalid' });
  await until(() =>
    server.telephone.list().some(({ to, state }) => to.includes('rings') && state === 'ringing'),
  );
  await vanished.close();
  const events = await fetch(`${server.server.url}/v1/calls/${server.telephone.list()[0]?.id ?? ''}/events`);

  const byes: string[] = [];
  const answering = setInterval(() => {
    for (const message of caller.heard.splice(0).filter((one) => one.startsWith('BYE'))) {
      byes.push(message);
      caller.send(okTo(message));
    }
  }, 5);
  const beganMs = performance.now();
  await server.close();
  const tookMs = performance.now() - beganMs;
  clearInterval(answering);
  await events.body?.cancel().catch(() => undefined);
  assert.ok(tookMs < CLOSE_LIMIT_MS, `${tookMs}`);
  assert.equal(server.telephone.size, 0);
  assert.ok(callee.heard.some((message) => message.startsWith('CANCEL sip:rings@')));
  assert.ok(byes.some((bye) => field(bye, 'Call-ID') === standing.callId));
  await caller.close();
  await callee.close();
  await until(() => resources().length <= before.length).catch(() => assert.deepEqual(resources(), before));
});

test('a peer that has vanished is not waited for when an application hangs up', async (t) => {
  const server = await kept(t, TelephoneServer.start());
  const vanished = await UdpCaller.open(server.address);
  await callFrom(vanished);
  await until(() => server.telephone.list()[0]?.state === 'connected');
  await vanished.close();
  const beganMs = performance.now();
  const view = await server.telephone.hangUp(server.telephone.list()[0]?.id ?? '');
  assert.equal(view.state, 'ended');
  assert.ok(performance.now() - beganMs < CLOSE_LIMIT_MS);
  assert.equal(server.telephone.ports['used'], 0);
});

test('an engine that dies in a call is told, the call stays and speaks again', async (t) => {
  const engine = new ScriptedEngine();
  engine.failing.add('It breaks.');
  const server = await serve(t, {}, engine);
  const caller = await kept(t, UdpCaller.open({ host: '127.0.0.1', port: server.port }));
  const call = await callFrom(caller);
  const { telephone } = server.server;
  assert.ok(telephone !== undefined);
  await until(() => telephone.list()[0]?.state === 'connected');
  const { id } = telephone.list()[0] ?? { id: '' };
  const seen: string[] = [];
  telephone.follow(id, 0, (event) => seen.push(event.type === 'speech' ? event.event.type : event.type));
  telephone.say(id, { text: 'It breaks.' });
  await until(() => seen.includes('utterance.failed'));
  const spoken = seen.filter((type) => type === 'utterance.spoken').length;
  telephone.say(id, { text: 'Again.' });
  await until(() => seen.filter((type) => type === 'utterance.spoken').length > spoken);
  assert.equal(telephone.get(id).state, 'connected');
  await hangUp(caller, call);
});

test('a webhook whose target is down keeps no call and no closing waiting', async (t) => {
  const port = await freePorts(1);
  const environment = {
    CALL_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
    CALL_WEBHOOK_SECRET: 'a-secret-of-some-length',
  };
  const server = await TelephoneServer.start(environment);
  const caller = await kept(t, UdpCaller.open(server.address));
  await hangUp(caller, await callFrom(caller));
  await until(() => server.telephone.list()[0]?.state === 'ended');
  const beganMs = performance.now();
  await server.close();
  assert.ok(performance.now() - beganMs < CLOSE_LIMIT_MS);
});

test('a name that is being looked up holds no closing up', async () => {
  const server = await TelephoneServer.start();
  const placed = await place(server.server, { to: 'sip:a@never.invalid', ring_timeout: 5 });
  assert.equal(placed.status, 201);
  const beganMs = performance.now();
  await server.close();
  assert.ok(performance.now() - beganMs < CLOSE_LIMIT_MS);
});

test('a call through a trunk that has vanished is taken back at once, and an unknown trunk is none', async (t) => {
  const dead = await freePorts(1);
  const trunks = [{ name: 'gone', domain: `127.0.0.1:${dead}` }];
  const server = await kept(t, TelephoneServer.start({}, { trunks }));
  const placed = await place(server.server, { to: '+4917012345', trunk: 'gone' });
  assert.equal(placed.status, 201);
  const { id } = (await placed.json()) as { id: string };
  const view = await server.telephone.hangUp(id);
  assert.deepEqual([view.state, view.end?.reason], ['ended', 'cancelled']);
  await until(() => server.telephone.ports['used'] === 0);
  const unknown = await place(server.server, { to: '+4917012345', trunk: 'other' });
  assert.equal(unknown.status, 404);
});

test('a call whose client leaves before the answer is hung up, unless a key leads back to it', async (t) => {
  const { server, telephone, address } = await kept(t, TelephoneServer.start());
  for (const key of [undefined, 'order-4711']) {
    const callee = await kept(t, UdpCaller.open(address));
    const to = `sip:a@127.0.0.1:${callee.local.port}`;
    const { gone, leaves } = leaving();
    const placing = telephone.place.bind(telephone);
    telephone.place = async (request) => {
      const view = await placing(request);
      await until(() => callee.heard.some((message) => message.startsWith('INVITE ')));
      leaves.abort();
      await gone; // as if placing took so long
      return view;
    };
    const body = { to, ...(key === undefined ? {} : { idempotency: key }) };
    await assert.rejects(place(server, body, leaves.signal), { name: 'AbortError' });
    telephone.place = placing;
    const [view] = telephone.list();
    assert.ok(view !== undefined);
    if (key === undefined) {
      await until(() => telephone.get(view.id).end?.reason === 'cancelled');
      continue;
    }
    const again = await place(server, body);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(((await again.json()) as { id: string }).id, view.id);
    const invite = callee.heard.findLast((message) => message.startsWith('INVITE ')) ?? '';
    callee.send(acceptanceOf(invite, callee.local));
    await until(() => telephone.get(view.id).state !== 'dialling');
    assert.equal(telephone.get(view.id).state, 'connected');
    void until(() => callee.heard.some((message) => message.startsWith('BYE '))).then(() =>
      callee.send(okTo(callee.heard.find((message) => message.startsWith('BYE ')) ?? '')),
    );
    await telephone.hangUp(view.id);
  }
  await until(() => telephone.size === 0 && telephone.ports['used'] === 0);
});

/** `gone` resolves when the server, which runs in this process, has noticed that the next client has left. */
function leaving(): { readonly gone: Promise<unknown>; readonly leaves: AbortController } {
  const gone = new Promise((resolve) => {
    const started = (message: unknown): void => {
      unsubscribe('http.server.request.start', started);
      (message as { response: ServerResponse }).response.once('close', () => resolve(undefined));
    };
    subscribe('http.server.request.start', started);
  });
  return { gone, leaves: new AbortController() };
}

function place(server: Server, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server.url}/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Resources that keep the process alive, except node's own. */
function resources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !/^(?:TTYWrap|PipeWrap|Immediate|TickObject|CloseReq)$/.test(name))
    .toSorted();
}

async function serve(t: TestContext, environment: Environment, engine: ScriptedEngine) {
  const port = await freePorts(1);
  const own = { PORT: '0', LOG_LEVEL: 'silent', SIP_PORT: `${port}`, GREETING: 'Hello.' };
  const server = await startServer(readConfig({ ...own, ...environment }), {
    engines: await Engines.of([engine]),
  });
  await kept(t, server);
  return { server, port };
}

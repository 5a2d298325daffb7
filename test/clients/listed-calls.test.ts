// The server as a process of its own with a call of each protocol. Applications drive the calls over sockets
// at every address of /v1/calls. When the server closes, each stream of events tells the end of its calls.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { FarEnd, UUID } from '../api/audiosocket/far-end.js';
import { SocketClient } from '../api/http/socket-client.js';
import { until } from '../fakes/until.js';
import { WeriftClient } from '../signaling/werift-client.js';
import { toneWav } from '../voices/voice-samples.js';
import { ServerProcess } from '../telephone/server-process.js';

const LIMIT_MS = 60_000;
const KINDS = ['AudioSocket', 'Realtime', 'ConversationRelay'] as const;
type Kind = (typeof KINDS)[number];
type Fields = Readonly<Record<string, unknown>>;

const WAV = toneWav({ seconds: 1 });

const ENVIRONMENT = {
  AUDIOSOCKET_PORT: '0',
  AUDIOSOCKET_UNANSWERED_SECONDS: '600',
  ICE_HOST_ADDRESSES: '127.0.0.1',
};

async function openSocketCall(t: TestContext, { url, output }: ServerProcess, kind: Kind): Promise<void> {
  if (kind === 'Realtime') await SocketClient.open(t, `${url}/v1/realtime`);
  else if (kind === 'ConversationRelay') await SocketClient.open(t, `${url}/v1/relay`);
  else {
    const [, port] = /"port":(\d+)[^\n]*"msg":"AudioSocket listens"/.exec(output) ?? [];
    await FarEnd.call(t, Number(port));
  }
}

async function dataOf(url: string): Promise<Fields[]> {
  return ((await (await fetch(url)).json()) as { data: Fields[] }).data;
}

async function listed(server: ServerProcess, count: number): Promise<string[]> {
  let calls: Fields[] = [];
  await until(async () => {
    calls = (await dataOf(`${server.url}/v1/calls`)).filter(({ state }) => state === 'connected');
    return calls.length === count;
  });
  return calls.map(({ id }) => String(id));
}

/** Calls from a browser over WHIP; resolves once its connection is up. */
async function openBrowserCall(t: TestContext, server: ServerProcess): Promise<void> {
  const browser = new WeriftClient();
  browser.connection.getTransceivers()[0]?.setDirection('sendonly');
  t.after(() => browser.close());
  const headers = { 'content-type': 'application/sdp' };
  const answer = await fetch(`${server.url}/whip`, { method: 'POST', headers, body: await browser.offer() });
  assert.equal(answer.status, 201, await answer.clone().text());
  await browser.accept(await answer.text());
  await browser.until(() => browser.connection.connectionState === 'connected', 'connection');
}

/** Follows a stream of events; `told` resolves with everything that it told, once it has closed. */
async function follow(url: string): Promise<{ readonly told: Promise<string> }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
  assert.equal(response.status, 200, url);
  return { told: response.text() };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal}: browser and socket calls tell their end before the streams of events close`, async (t) => {
    const server = await ServerProcess.start(t, { ...ENVIRONMENT, DRAIN_TIMEOUT: '1' });
    await openBrowserCall(t, server);
    for (const kind of KINDS) await openSocketCall(t, server, kind);
    const ids = await listed(server, KINDS.length);
    const all = await follow(`${server.url}/v1/events?after=0`);
    const own = await Promise.all(ids.map((id) => follow(`${server.url}/v1/calls/${id}/events`)));
    server.signal(signal);
    const events = await all.told;
    const dataOfType = (type: string) =>
      Array.from(events.matchAll(new RegExp(`^event: ${type}\\ndata: (.+)$`, 'gm')), ([, data = '']) => {
        return JSON.parse(data) as Fields;
      });
    const started = dataOfType('call.started');
    const protocols = started.map(({ call }) => String((call as Fields)['protocol']));
    assert.deepEqual(protocols.toSorted(), ['audiosocket', 'webrtc', 'websocket', 'websocket']);
    const ends = dataOfType('call.ended');
    const idsOf = (told: readonly Fields[]) => told.map(({ call_id: id }) => String(id)).toSorted();
    assert.deepEqual(idsOf(ends), idsOf(started));
    assert.ok(ends.every(({ reason }) => reason === 'server closing'));
    assert.ok(ids.every((id) => idsOf(ends).includes(id)));
    for (const { told } of own) assert.match(await told, /"state":"ended".*"reason":"server closing"/);
    assert.equal(await server.exited, 0);
  });
}

let server: ServerProcess;

before(async () => {
  server = await ServerProcess.open(ENVIRONMENT);
});
after(() => server.close());

for (const kind of KINDS) {
  test(`a call by ${kind} is driven under every address of /v1/calls`, async (t) => {
    await openSocketCall(t, server, kind);
    const [id = ''] = await listed(server, 1);
    const at = `${server.url}/v1/calls/${id}`;
    const own = await follow(`${at}/events`);
    const ask = async (method: string, path: string, body?: object): Promise<readonly [number, Fields]> => {
      const headers = { 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
      const answer = await fetch(`${at}${path}`, { method, ...sent });
      const text = await answer.text();
      return [answer.status, text === '' ? {} : (JSON.parse(text) as Fields)];
    };
    const [seen, view] = await ask('GET', '');
    assert.deepEqual([seen, view['id'], view['state']], [200, id, 'connected']);
    assert.equal(view['protocol'], kind === 'AudioSocket' ? 'audiosocket' : 'websocket');
    if (kind === 'AudioSocket') assert.equal(view['from'], `audiosocket:${UUID}`);
    const [said, speech] = await ask('POST', '/say', { text: 'One, two, three, four, five.' });
    assert.deepEqual([said, speech['object']], [202, 'call.utterance']);
    assert.equal((await ask('POST', '/interrupt'))[0], 200);
    assert.equal((await ask('POST', '/listen', {}))[0], 200);
    const headers = { 'content-type': 'audio/wav' };
    const played = await fetch(`${at}/play`, { method: 'POST', headers, body: WAV });
    assert.equal(played.status, 202);
    assert.equal((await ask('POST', '/recording', { action: 'start' }))[0], 501);
    assert.equal((await ask('POST', '/relay'))[0], kind === 'AudioSocket' ? 201 : 409);
    for (const [path, body] of [
      ['/dtmf', { digits: '1' }],
      ['/hold', { held: true }],
      ['/transfer', { to: 'sip:200@example.com' }],
    ] as const) {
      const [status, { error }] = await ask('POST', path, body);
      assert.deepEqual([status, (error as Fields)['code']], [409, 'call_state'], path);
    }
    const [ended, last] = await ask('DELETE', '');
    assert.deepEqual([ended, last['state']], [200, 'ended']);
    assert.equal((last['end'] as Fields)['reason'], 'we hung up');
    assert.match(await own.told, /"state":"ended"/);
    assert.equal((await ask('GET', ''))[1]['state'], 'ended');
  });
}

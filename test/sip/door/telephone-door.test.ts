// The door on loopback, with media and speech in memory; the far end is a socket
// of the test.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config.js';
import type { MediaPort } from '../../../src/call/call.js';
import { ParleyError } from '../../../src/errors.js';
import { systemTime } from '../../../src/time.js';
import { Answering } from '../../../sip/door/answering.js';
import { Correspondents } from '../../../sip/door/correspondents.js';
import { TelephoneDoor } from '../../../sip/door/telephone-door.js';
import { FAILURE_BOUNDS, Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import { RoutingTable } from '../../../sip/routing-table.js';
import { until } from '../../fakes/until.js';
import { asCall, asMedia, callSurroundings, FakeCall, FakeMedia } from './fake-legs.js';

async function open(t: TestContext) {
  const { records, recorded, log } = callSurroundings();
  const media: FakeMedia[] = [];
  const failing: { media?: ParleyError; check?: ParleyError } = {};
  const time = systemTime;
  let ended = 0;
  let calls = 0;
  const door = new TelephoneDoor({
    config: readConfig({ SIP_PORT: '0' }).sip,
    tls: { cert: undefined, key: undefined, ca: undefined, clientCertificates: 'ignored' },
    trunks: [],
    srtp: 'prefer',
    guardOf: (allowedNow) => new Guard({ time, allowed: ['127.0.0.0/8'], challenged: [], allowedNow, requests: REQUEST_BOUNDS, failures: FAILURE_BOUNDS }),
    digest: undefined,
    correspondents: new Correspondents(time),
    answering: new Answering(new RoutingTable([]), { text: 'Hello.' }, 60_000),
    switchboard: {
      open: async (makePort: (id: string) => Promise<MediaPort>) => {
        const call = new FakeCall(`call-${++calls}`);
        await makePort(call.id);
        return asCall(call);
      },
      check: () => {
        if (failing.check !== undefined) throw failing.check;
      },
    },
    openMedia: () => {
      if (failing.media !== undefined) throw failing.media;
      media.push(Object.assign(new FakeMedia(), { offer: () => ({ value: 'v=0' }), withdraw: () => undefined, offering: true }));
      return asMedia(media.at(-1) as FakeMedia);
    },
    ports: () => ({ inUse: 0, draining: 0, free: 0 }),
    ended: async () => void ended++,
    silenceLimitMs: 0,
    time,
    wallMs: () => Date.now(),
    recorded,
    told: () => undefined,
    log,
  });
  await door.open();
  t.after(() => door.close());
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { door, media, failing, records, socket, to: `sip:bob@127.0.0.1:${socket.address().port}`, ended: () => ended };
} // prettier-ignore

/** Answers INVITEs with this status; resolves at the first one. */
function answers(socket: Socket, status: number): Promise<unknown> {
  socket.on('message', (bytes, { address, port }) => {
    const [first = '', ...lines] = bytes.toString().split('\r\n\r\n', 1)[0]?.split('\r\n') ?? [];
    if (!first.startsWith('INVITE')) return;
    const kept = lines.filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line));
    const told = kept.map((line) => (/^To:/i.test(line) ? `${line};tag=b` : line));
    socket.send([`SIP/2.0 ${status} Said`, ...told, 'Content-Length: 0', '', ''].join('\r\n'), port, address);
  });
  return once(socket, 'message');
}

test('a call that is refused ends with the status, is recorded once and gives its media back', async (t) => {
  const { door, socket, to, media, records } = await open(t);
  void answers(socket, 486);
  const { id, state } = await door.place({ to });
  assert.equal(state, 'dialling');
  await until(() => door.get(id).state === 'ended');
  const [record] = records;
  assert.deepEqual(
    [record?.end.reason, record?.end.status, records.length, media[0]?.closed],
    ['rejected', 486, 1, 1],
  );
  assert.ok((record?.setupMs ?? -1) >= 0, 'INVITE to its final response');
  assert.equal(door.size, 0);
});

test('what cannot be spoken, has no port or no agent is refused before anything is sent', async (t) => {
  const { door, failing, to, socket } = await open(t);
  let heard = 0;
  socket.on('message', () => heard++);
  failing.check = new ParleyError('VOICE_UNKNOWN', 'no such voice');
  await assert.rejects(door.place({ to, say: { text: 'x' } }), { code: 'VOICE_UNKNOWN' });
  failing.media = new ParleyError('CALL_LIMIT', 'full');
  await assert.rejects(door.place({ to }), { code: 'CALL_LIMIT' });
  await assert.rejects(door.place({ to, agent: 'a' }), { code: 'CAPABILITY_MISSING' });
  await assert.rejects(door.place({ to: '<>' }), { code: 'INVALID_FIELD' });
  assert.deepEqual([door.size, heard], [0, 0]);
});

test('closing ends calls that ring and calls on their way, once, and takes no more', async (t) => {
  const { door, to, media, records, socket, ended } = await open(t);
  const [, port = ''] = /:(\d+)$/.exec(door.network.listening[0] ?? '') ?? [];
  const own = socket.address().port;
  const invite = ['INVITE sip:100@127.0.0.1 SIP/2.0', `Via: SIP/2.0/UDP 127.0.0.1:${own};branch=z9hG4bK1`,
    'From: <sip:a@b>;tag=a', 'To: <sip:100@127.0.0.1>', 'Call-ID: 7', 'CSeq: 1 INVITE', `Contact: <sip:a@127.0.0.1:${own}>`,
    'Max-Forwards: 70', 'Content-Length: 0', '', ''].join('\r\n'); // prettier-ignore
  socket.send(invite, Number(port), '127.0.0.1');
  await until(() => door.list()[0]?.state === 'ringing');
  assert.match(String((await once(socket, 'message'))[0]), /^SIP\/2\.0 180/);
  void answers(socket, 486);
  const first = door.close();
  assert.equal(door.close(), first);
  await assert.rejects(door.place({ to }), { code: 'CALL_CLOSED' });
  await first;
  assert.deepEqual([records.map(({ end }) => end.reason), media.map(({ closed }) => closed), ended()], [['server closing'], [1], 1]);
}); // prettier-ignore

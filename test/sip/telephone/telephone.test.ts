// The telephone on loopback, with media and speech in memory; the far end is a socket of the test.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import type { MediaPort } from '../../../src/call/call-route.js';
import { ParleyError } from '../../../src/errors.js';
import { systemTime } from '../../../src/time.js';
import type { Result } from '../../../sip/message/refusal.js';
import type { SipRequest } from '../../../sip/message/message.js';
import { type Answer, Answering } from '../../../sip/telephone/answering.js';
import { RecentPeers } from '../../../sip/telephone/sip-admission.js';
import { Telephone, type TelephoneParts } from '../../../sip/telephone/telephone.js';
import { FAILURE_BOUNDS, Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import { RoutingTable } from '../../../sip/routing-table.js';
import type { MediaRequest } from '../../../sip/trunk/outbound-calls.js';
import { MediaNegotiation } from '../../../sip/sdp/media-negotiation.js';
import { mediaPolicy } from '../../../sip/telephone/media-supply.js';
import { FINGERPRINT } from '../sdp/negotiation-under-test.js';
import { RELAY } from '../../api/relay/connect-relay.js';
import { until } from '../../fakes/until.js';
import { asCall, asMedia, callSurroundings, FakeCall, FakeMedia } from './fake-legs.js';

/** Accepts any description. */
class TalkingMedia extends FakeMedia {
  offering = true;
  answering = (): Result<string> => {
    this.agree();
    return { value: 'v=0' };
  };

  offer(): Result<string> {
    return { value: 'v=0' };
  }

  answer(): Result<string> {
    return this.answering();
  }

  withdraw(): void {}
}

class FailingAnswering extends Answering {
  readonly #failing: { readonly defect?: Error };

  constructor(failing: { readonly defect?: Error }, ringMs: number) {
    super(new RoutingTable([]), { text: 'Hello.' }, ringMs);
    this.#failing = failing;
  }

  override to(invite: SipRequest): Answer {
    if (this.#failing.defect !== undefined) throw this.#failing.defect;
    return super.to(invite);
  }
}

async function open(t: TestContext, ringMs = 60_000, more: Partial<TelephoneParts> = {}) {
  const { records, recorded, log } = callSurroundings();
  const media: TalkingMedia[] = [];
  const mediaRequests: (Partial<MediaRequest> | undefined)[] = [];
  const failing: { media?: ParleyError; check?: ParleyError; defect?: Error } = {};
  const time = systemTime;
  let ended = 0;
  let calls = 0;
  const telephone = new Telephone({
    config: readConfig({ SIP_PORT: '0' }).sip,
    tls: { cert: undefined, key: undefined, ca: undefined, clientCertificates: 'ignored' },
    trunks: [],
    srtp: 'prefer',
    guardOf: (allowedNow) =>
      new Guard({
        time,
        allowed: ['127.0.0.0/8'],
        challenged: [],
        allowedNow,
        requests: REQUEST_BOUNDS,
        failures: FAILURE_BOUNDS,
      }),
    digest: undefined,
    recentPeers: new RecentPeers(time),
    answering: new FailingAnswering(failing, ringMs),
    switchboard: {
      open: async (makePort: (id: string) => Promise<MediaPort>) => {
        const call = new FakeCall(`call-${++calls}`);
        await makePort(call.id);
        return asCall(call);
      },
      newId: () => `call-${++calls}`,
      check: () => {
        if (failing.check !== undefined) throw failing.check;
      },
    },
    openMedia: (_address, mediaRequest) => {
      mediaRequests.push(mediaRequest);
      if (failing.media !== undefined) throw failing.media;
      media.push(new TalkingMedia());
      return asMedia(media.at(-1) as FakeMedia);
    },
    ports: () => ({ inUse: 0, draining: 0, free: 0 }),
    ended: async () => void ended++,
    silenceLimitMs: 0,
    time,
    wallMs: () => Date.now(),
    recorded,
    onResponse: () => undefined,
    log,
    ...more,
  });
  await telephone.open();
  t.after(() => telephone.close());
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return {
    telephone,
    media,
    mediaRequests,
    failing,
    records,
    socket,
    to: `sip:bob@127.0.0.1:${socket.address().port}`,
    ended: () => ended,
  };
}

/** Answers INVITEs with this status; resolves at the first one. */
function answers(socket: Socket, status: number): Promise<unknown> {
  socket.on('message', (bytes, { address, port }) => {
    const [first = '', ...lines] = bytes.toString().split('\r\n\r\n', 1)[0]?.split('\r\n') ?? [];
    if (!first.startsWith('INVITE')) return;
    const kept = lines.filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line));
    const seen = kept.map((line) => (/^To:/i.test(line) ? `${line};tag=b` : line));
    socket.send([`SIP/2.0 ${status} Said`, ...seen, 'Content-Length: 0', '', ''].join('\r\n'), port, address);
  });
  return once(socket, 'message');
}

test('a call that is refused ends with the status, is recorded once and gives its media back', async (t) => {
  const { telephone, socket, to, media, records } = await open(t);
  void answers(socket, 486);
  const { id, state } = await telephone.place({ to });
  assert.equal(state, 'dialling');
  await until(() => telephone.get(id).state === 'ended');
  const [record] = records;
  assert.deepEqual(
    [record?.end.reason, record?.end.status, records.length, media[0]?.closed],
    ['rejected', 486, 1, 1],
  );
  assert.ok((record?.setupMs ?? -1) >= 0, 'INVITE to its final response');
  assert.equal(telephone.size, 0);
});

const LENGTHS = {
  end: { ip4: '203.0.113.255', port: 16_384, rtcpPort: 16_385, fingerprints: [FINGERPRINT], ice: true },
  randomBytes,
};

test('an INVITE stays below the 1,300 bytes of RFC 3261, whatever keys it offers', async (t) => {
  for (const [SRTP, SRTP_KEYING] of [
    ['prefer', ''],
    ['prefer', 'dtls'],
    ['require', 'sdes'],
    ['require', 'dtls'],
    ['off', ''],
  ]) {
    const { sip, phoneMedia } = readConfig({
      SIP_PORT: '0',
      SRTP,
      SRTP_KEYING,
      PUBLIC_ADDRESS: '203.0.113.255',
    });
    const policy = mediaPolicy(phoneMedia);
    const offer = () => new MediaNegotiation({ policy, ...LENGTHS }).offer();
    const { telephone, socket } = await open(t, 0, {
      config: sip,
      openMedia: () => asMedia(Object.assign(new TalkingMedia(), { offer })),
    });
    const heard = once(socket, 'message');
    void answers(socket, 486);
    const to = `sip:+493012345678901@127.0.0.1:${socket.address().port}`;
    await telephone.place({
      to,
      from: 'sip:+493098765432101@sip.example.com',
      displayName: 'Example Company Ltd',
    });
    const [bytes] = (await heard) as [Buffer];
    assert.match(bytes.toString(), /^INVITE [^]*\r\na=rtcp-mux\r\n/);
    assert.ok(bytes.length < 1300, `SRTP=${SRTP} SRTP_KEYING=${SRTP_KEYING}: ${bytes.length} bytes`);
    assert.ok(!bytes.includes('CN/8000'));
  }
});

test('a call that comes in has the keys and addresses of its trunk, or the keys of its transport', async (t) => {
  const trunk = {
    name: 'carrier',
    domain: 'carrier.example',
    authRealms: [],
    lateOffer: false,
    assertedIdentity: false,
    addresses: ['127.0.0.1'],
  };
  for (const [parts, offers, mediaRequest] of [
    [
      { trunks: [{ ...trunk, srtp: 'require', keying: ['sdes'] }] },
      true,
      { srtp: 'require', keyings: ['sdes'], networks: ['127.0.0.1'] },
    ],
    [
      { trunks: [trunk], keying: ['dtls'] },
      true,
      { srtp: undefined, keyings: ['dtls'], networks: ['127.0.0.1'] },
    ],
    [{ srtp: 'require' }, true, { srtp: undefined, keyings: ['dtls', 'sdes'] }],
    [{ srtp: 'prefer' }, true, { srtp: undefined, keyings: ['dtls', 'sdes'] }],
    [{ srtp: 'prefer' }, false, { srtp: undefined, keyings: ['dtls', 'sdes'] }],
  ] as const) {
    const { telephone, mediaRequests, socket } = await open(t, 60_000, parts);
    const [, port = ''] = /:(\d+)$/.exec(telephone.network.listening[0] ?? '') ?? [];
    const own = socket.address().port;
    const body = offers ? '' : 'v=0\r\n';
    const invite = [
      'INVITE sip:100@127.0.0.1 SIP/2.0',
      `Via: SIP/2.0/UDP 127.0.0.1:${own};branch=z9hG4bK1`,
      'From: <sip:a@b>;tag=a',
      'To: <sip:100@127.0.0.1>',
      'Call-ID: 7',
      'CSeq: 1 INVITE',
      `Contact: <sip:a@127.0.0.1:${own}>`,
      'Content-Type: application/sdp',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
    socket.send(invite, Number(port), '127.0.0.1');
    await until(() => mediaRequests.length === 1);
    assert.deepEqual(mediaRequests, [mediaRequest]);
  }
});

test('what cannot be spoken, has no port or no agent is refused before anything is sent', async (t) => {
  const { telephone, failing, to, socket } = await open(t);
  let heard = 0;
  socket.on('message', () => heard++);
  failing.check = new ParleyError('VOICE_UNKNOWN', 'no such voice');
  await assert.rejects(telephone.place({ to, say: { text: 'x' } }), { code: 'VOICE_UNKNOWN' });
  failing.media = new ParleyError('CALL_LIMIT', 'full');
  await assert.rejects(telephone.place({ to }), { code: 'CALL_LIMIT' });
  await assert.rejects(telephone.place({ to, agent: 'a' }), { code: 'CAPABILITY_MISSING' });
  const relay = { ...RELAY, url: 'wss://bot.example.com/' };
  await assert.rejects(telephone.place({ to, relay }), { code: 'CAPABILITY_MISSING' });
  await assert.rejects(telephone.place({ to: '<>' }), { code: 'INVALID_FIELD' });
  assert.deepEqual([telephone.size, heard], [0, 0]);
});

/** The next message except 100. */
function afterTrying(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('message', (bytes: Buffer) => {
      if (!bytes.toString().startsWith('SIP/2.0 100 ')) resolve(bytes.toString());
    });
  });
}

test('closing ends calls that ring and calls on their way, once, and takes no more', async (t) => {
  const { telephone, to, media, records, socket, ended } = await open(t);
  const [, port = ''] = /:(\d+)$/.exec(telephone.network.listening[0] ?? '') ?? [];
  const own = socket.address().port;
  const invite = [
    'INVITE sip:100@127.0.0.1 SIP/2.0',
    `Via: SIP/2.0/UDP 127.0.0.1:${own};branch=z9hG4bK1`,
    'From: <sip:a@b>;tag=a',
    'To: <sip:100@127.0.0.1>',
    'Call-ID: 7',
    'CSeq: 1 INVITE',
    `Contact: <sip:a@127.0.0.1:${own}>`,
    'Max-Forwards: 70',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n');
  const ringing = afterTrying(socket);
  socket.send(invite, Number(port), '127.0.0.1');
  await until(() => telephone.list()[0]?.state === 'ringing');
  assert.match(await ringing, /^SIP\/2\.0 180/);
  void answers(socket, 486);
  const first = telephone.close();
  assert.equal(telephone.close(), first);
  await assert.rejects(telephone.place({ to }), { code: 'CALL_CLOSED' });
  await first;
  assert.deepEqual(
    [records.map(({ end }) => end.reason), media.map(({ closed }) => closed), ended()],
    [['server closing'], [1], 1],
  );
});

test('a message that meets a defect is refused, ends the call that it belongs to and no other, and is counted', async (t) => {
  const { telephone, media, records, socket } = await open(t, 0);
  const [, port = ''] = /:(\d+)$/.exec(telephone.network.listening[0] ?? '') ?? [];
  const heard: string[] = [];
  socket.on('message', (bytes) => heard.push(bytes.toString()));
  const send = (method: string, callId: string, cseq: number, toTag = ''): void =>
    socket.send(requestOf(socket.address().port, { method, callId, cseq, toTag }), Number(port), '127.0.0.1');
  const final = async (callId: string, cseq: number): Promise<string> => {
    const isIt = (text: string): boolean =>
      /^SIP\/2\.0 [2-6]/.test(text) &&
      text.includes(`Call-ID: ${callId}\r\n`) &&
      text.includes(`CSeq: ${cseq} `);
    await until(() => heard.some(isIt));
    return heard.find(isIt) ?? '';
  };
  const tags: string[] = [];
  for (const callId of ['first', 'second']) {
    send('INVITE', callId, 1);
    tags.push(/^To:.*;tag=(\S+)/m.exec(await final(callId, 1))?.[1] ?? '');
    send('ACK', callId, 1, tags.at(-1));
  }
  await until(() => telephone.list().every(({ state }) => state === 'connected'));
  const [first] = media;
  assert.ok(first !== undefined);
  first.answering = () => {
    throw new RangeError('a defect');
  };
  send('INVITE', 'first', 2, tags[0]);
  assert.match(await final('first', 2), /^SIP\/2\.0 500/);
  await until(() => heard.some((text) => text.startsWith('BYE')));
  await until(() => records.length === 1);
  assert.deepEqual(
    [records[0]?.callId, records[0]?.end.reason, telephone.dropped['failed'], telephone.size],
    ['first', 'failed', 1, 1],
  );
});

test('an INVITE that meets a defect before it is a call is refused with 500, and nothing is left of it', async (t) => {
  const { telephone, failing, socket } = await open(t, 0);
  const [, port = ''] = /:(\d+)$/.exec(telephone.network.listening[0] ?? '') ?? [];
  failing.defect = new RangeError('a defect');
  socket.send(
    requestOf(socket.address().port, { method: 'INVITE', callId: 'x', cseq: 1 }),
    Number(port),
    '127.0.0.1',
  );
  assert.match(await afterTrying(socket), /^SIP\/2\.0 500/);
  assert.deepEqual(
    [telephone.network.agent.counts, telephone.size, telephone.dropped['failed']],
    [{ early: 0, confirmed: 0 }, 0, 1],
  );
});

interface Wording {
  readonly method: string;
  readonly callId: string;
  readonly cseq: number;
  readonly toTag?: string;
}

function requestOf(port: number, { method, callId, cseq, toTag = '' }: Wording): string {
  const to = `<sip:100@127.0.0.1>${toTag === '' ? '' : `;tag=${toTag}`}`;
  const body = method === 'INVITE' ? 'v=0\r\n' : '';
  return [
    `${method} sip:100@127.0.0.1 SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${callId}${cseq}${method}`,
    `From: <sip:a@b>;tag=${callId}`,
    `To: ${to}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq} ${method}`,
    `Contact: <sip:a@127.0.0.1:${port}>`,
    'Max-Forwards: 70',
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

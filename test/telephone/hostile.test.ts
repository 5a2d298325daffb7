// The whole server under hostile and broken peers: it believes nothing, bounds and counts everything, and
// still serves good callers.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import { g711Sound } from '../interop/telephone/rtp-record.js';
import { voiced } from '../interop/telephone/sound-shape.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import {
  callFrom,
  field,
  finalOf,
  hangUp,
  idOf,
  isOverloaded,
  offer,
  okTo,
  refusalOf,
  request,
  type RawCall,
  statusOf,
  TcpCaller,
  UdpCaller,
} from './raw-caller.js';

const MAX_CALLS = 20;
const FLOODER = '127.0.0.2';
const STRANGER = '127.0.0.9';
const CHALLENGED = '127.0.0.5';
const OTHER_CHALLENGED = '127.0.0.6';

const ROUTES = [
  { to: 'annc', announce: { after: 'hangup', mostCharacters: 200 } },
  { to: 'no', reject: { status: 486, cause: 17, text: 'so "busy" \\ and;more' } },
];

let server: TelephoneServer;

before(async () => {
  const environment = {
    MAX_CALLS: `${MAX_CALLS}`,
    SIP_ALLOW: `127.0.0.1,${FLOODER}`,
    SIP_CHALLENGE: `${CHALLENGED},${OTHER_CHALLENGED}`,
    RTP_PORT_DRAIN: '0',
    SIP_RATE: '100',
  };
  server = await TelephoneServer.start(environment, {
    routes: ROUTES,
    users: { anna: 'secret', bert: 'other' },
  });
});
after(() => server.close());

const CALLERS: readonly (readonly [over: string, open: () => Promise<UdpCaller | TcpCaller>])[] = [
  ['UDP', () => UdpCaller.open(server.address)],
  ['TCP', () => TcpCaller.open(server.address)],
];

/** A caller is served: nothing is stuck. */
async function servesGoodCallers(): Promise<void> {
  const caller = await UdpCaller.open(server.address);
  try {
    await hangUp(caller, await callFrom(caller));
  } finally {
    await caller.close();
  }
}

const dropped = (cause: string): number => server.telephone.dropped[cause] ?? -1;

for (const [over, open] of CALLERS) {
  test(`a call that is not acknowledged over ${over} is answered again, ends when the application ends it, and leaves nothing`, async (t) => {
    const caller = await kept(t, open());
    await until(() => server.telephone.size === 0);
    const { callId } = await callFrom(caller, {}, false);
    const answers = () =>
      caller.heard.filter((message) => statusOf(message) === 200 && field(message, 'Call-ID') === callId);
    await until(() => answers().length >= 2);
    const [view] = server.telephone.list();
    assert.equal(view?.state, 'ringing');
    const ended = await server.telephone.hangUp(view?.id ?? '');
    assert.equal(ended.state, 'ended');
    assert.equal(server.telephone.size, 0);
    assert.equal(server.telephone.ports['used'], 0);
  });
}

test('a stranger is not told that anybody is here, over UDP or TCP, and is counted', async (t) => {
  const before = dropped('stranger');
  const udp = await kept(t, UdpCaller.open(server.address, STRANGER));
  for (const method of ['INVITE', 'OPTIONS', 'REGISTER', 'BYE']) udp.send(request(udp, { method }));
  udp.send('INVITE rubbish\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\nCSeq: 1 INVITE\r\n\r\n');
  const tcp = await kept(t, TcpCaller.open(server.address, STRANGER));
  await until(() => tcp.isCut);
  await until(() => dropped('stranger') === before + 6);
  await servesGoodCallers(); // whatever was to be said has been said by then
  assert.deepEqual([udp.heard.length, tcp.bytes], [0, 0]);
});

test('a Via that names a third party has nothing sent there', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const victim = await kept(t, UdpCaller.open(server.address, STRANGER));
  const via = `SIP/2.0/UDP ${STRANGER}:${victim.local.port};branch=z9hG4bKv1;maddr=${STRANGER};rport`;
  const text = request(caller, { method: 'OPTIONS', callId: 'via' }).replace(/^Via: .*$/m, `Via: ${via}`);
  caller.send(text);
  assert.equal(statusOf(await finalOf(caller, 'via', 'OPTIONS')), 200);
  assert.equal(victim.heard.length, 0);
});

test('a call that nobody acknowledges over UDP is sent no packet until one comes from there', async (t) => {
  const [caller, rtp] = [await kept(t, UdpCaller.open(server.address)), await kept(t, RtpPeer.open())];
  const body = offer('127.0.0.1', rtp.port);
  const call = await callFrom(caller, { body }, false);
  await until(
    () =>
      caller.heard.filter((message) => statusOf(message) === 200 && field(message, 'Call-ID') === call.callId)
        .length === 3,
  ); // 1.5 s
  assert.deepEqual([rtp.heard.length, rtp.rtcpHeard], [0, 0]);
  rtp.stream({ host: '127.0.0.1', port: Number(/^m=audio (\d+)/m.exec(call.answer)?.[1]) });
  await until(() => rtp.heard.length > 10);
  await hangUp(caller, call);
});

for (const port of ['80', '1023', 'SIP']) {
  test(`a call whose sound would go to port ${port} of this machine is refused`, async (t) => {
    const caller = await kept(t, UdpCaller.open(server.address));
    const at = port === 'SIP' ? server.address.port : Number(port);
    assert.equal(statusOf(await refusalOf(caller, { body: offer('127.0.0.1', at) })), 488);
  });
}

test('scanners are dropped by the names they give themselves, even at allowed addresses', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const before = dropped('scanner');
  caller.send(
    request(caller, { method: 'OPTIONS', callId: 'scan', headers: ['User-Agent: friendly-scanner'] }),
  );
  await until(() => dropped('scanner') === before + 1);
  await servesGoodCallers();
  assert.equal(caller.heard.length, 0);
});

test('whoever has a wrong password too often is not heard any more, right password or not; others are', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address, OTHER_CHALLENGED));
  let wrong = 0;
  for (; dropped('banned') === 0; wrong++) {
    assert.ok(wrong < 20, 'never banned');
    const challenge = await challenged(caller, `w${wrong}`);
    caller.send(
      request(caller, { callId: `w${wrong}`, cseq: 2, headers: [credentials(challenge, 'bert', 'guess')] }),
    );
    await until(
      () =>
        dropped('banned') > 0 ||
        caller.heard.filter(
          (message) => field(message, 'CSeq') === '2 INVITE' && field(message, 'Call-ID') === `w${wrong}`,
        ).length > 0,
    );
    caller.send(request(caller, { method: 'OPTIONS', callId: `probe${wrong}` }));
    await until(
      () =>
        dropped('banned') > 0 ||
        caller.heard.some((message) => field(message, 'Call-ID') === `probe${wrong}`),
    );
  }
  assert.ok(wrong >= 5);
  // Not what is no SIP either.
  const heard = caller.heard.length;
  caller.send(
    'INVITE rubbish\r\nVia: SIP/2.0/UDP 127.0.0.6;branch=z9hG4bK1;rport\r\nCSeq: 1 INVITE\r\nCall-ID: banned\r\n\r\n',
  );
  const other = await kept(t, UdpCaller.open(server.address, CHALLENGED));
  await challenged(other, 'fine');
  assert.equal(caller.heard.length, heard);
});

test('a call is not taken over by a caller with another password; by its own caller and by allowed addresses it is', async (t) => {
  const anna = await kept(t, UdpCaller.open(server.address, CHALLENGED));
  const first = await loggedIn(anna, 'anna', 'secret');
  const taken = (by: string) => [`Replaces: ${by};to-tag=${first.toTag};from-tag=${first.fromTag}`];
  const [{ id } = { id: '' }] = server.telephone.list();

  const bert = await kept(t, UdpCaller.open(server.address, CHALLENGED));
  const refused = await loggedInAnswer(bert, 'bert', 'other', taken(first.callId));
  assert.equal(statusOf(refused), 403);
  assert.equal(server.telephone.get(id).state, 'connected');
  assert.ok(!anna.heard.some((message) => message.startsWith('BYE')));

  const again = await kept(t, UdpCaller.open(server.address, CHALLENGED));
  const second = await loggedIn(again, 'anna', 'secret', taken(first.callId));
  await until(() => anna.heard.some((message) => message.startsWith('BYE')));
  anna.send(okTo(anna.heard.find((message) => message.startsWith('BYE')) ?? ''));
  assert.equal(server.telephone.get(id).state, 'connected');

  const desk = await kept(t, UdpCaller.open(server.address));
  const header = `Replaces: ${second.callId};to-tag=${second.toTag};from-tag=${second.fromTag}`;
  const third = await callFrom(desk, { headers: [header] });
  await until(() => again.heard.some((message) => message.startsWith('BYE')));
  again.send(okTo(again.heard.find((message) => message.startsWith('BYE')) ?? ''));
  await hangUp(desk, third);
  await until(() => server.telephone.get(id).state === 'ended');
});

test('a call goes on when what wants to replace it cannot be answered', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const call = await callFrom(caller);
  const [{ id } = { id: '' }] = server.telephone.list();
  const replaces = `Replaces: ${call.callId};to-tag=${call.toTag};from-tag=${call.fromTag}`;
  const body =
    'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=video 9 RTP/AVP 99\r\n';
  assert.equal(statusOf(await refusalOf(caller, { headers: [replaces], body })), 488);
  assert.equal(server.telephone.get(id).state, 'connected');
  assert.equal(server.telephone.ports['used'], 1);
  await hangUp(caller, call);
  await until(() => server.telephone.get(id).end?.reason === 'peer hung up');
});

const CRLF_FLOOD = 1_000_000; // bytes

test('what is no SIP over TCP is answered where that is possible, and the connection is cut and counted', async (t) => {
  const bad = 'SIP/2.0 400 Bad Content-Length';
  const cases: readonly [
    kind: string,
    write: (caller: TcpCaller) => void,
    cause: string,
    answers: readonly string[],
  ][] = [
    ['garbage', (caller) => caller.send('\x00\x01garbage\r\n\r\n'.repeat(1000)), 'unframed', []],
    [
      'a head without an end',
      (caller) => caller.send(`INVITE sip:a@b SIP/2.0\r\n${'X: y\r\n'.repeat(12_000)}`),
      'head-too-large',
      [],
    ],
    [
      'one header of more than 64 kB',
      (caller) => caller.send(request(caller, { headers: [`X: ${'y'.repeat(66_000)}`] })),
      'head-too-large',
      [],
    ],
    [
      'a body of 1 MB',
      (caller) => caller.send(request(caller, { body: 'x'.repeat(1_000_000) })),
      'body-too-large',
      [bad],
    ],
    [
      'no Content-Length',
      (caller) => caller.send(request(caller).replace(/^Content-Length.*\r\n/m, '')),
      'unframed',
      [bad],
    ],
  ];
  for (const [kind, write, cause, answers] of cases) {
    const before = dropped(cause);
    const caller = await kept(t, TcpCaller.open(server.address));
    write(caller);
    await until(() => caller.isCut).catch(() => assert.fail(`${kind}: the connection stands`));
    assert.deepEqual(
      caller.heard.map((message) => message.split('\r\n')[0]),
      answers,
      kind,
    );
    assert.equal(dropped(cause), before + 1, kind);
  }
  await servesGoodCallers();
});

for (const [over, open] of CALLERS) {
  const kb = over === 'UDP' ? 15 : 63;
  test(`a header of ${kb} kB is read over ${over}, thousands of tiny ones are refused, and the server is as it was`, async (t) => {
    const caller = await kept(t, open());
    const ask = async (callId: string, headers: readonly string[]) => {
      caller.send(request(caller, { method: 'OPTIONS', callId, headers }));
      return statusOf(await finalOf(caller, callId, 'OPTIONS'));
    };
    assert.equal(await ask('long', [`X-Long: ${'y'.repeat(kb * 1000)}`]), 200);
    assert.equal(
      await ask(
        'many',
        Array.from({ length: 2000 }, () => 'X: y'),
      ),
      400,
    );
    caller.send('\r\n\r\n');
    assert.equal(await ask('few', ['X: y']), 200);
    await servesGoodCallers();
  });
}

test('a datagram of more than 16 kB is dropped unread, and counted', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const before = dropped('datagram-too-large');
  caller.send(request(caller, { method: 'OPTIONS', callId: 'huge', headers: [`X: ${'y'.repeat(16_384)}`] }));
  await until(() => dropped('datagram-too-large') === before + 1);
  await servesGoodCallers();
  assert.ok(!caller.heard.some((message) => field(message, 'Call-ID') === 'huge'));
});

test('a flood of empty lines over TCP has few answers, and requests behind it are answered', async (t) => {
  const caller = await kept(t, TcpCaller.open(server.address));
  caller.send('\r\n\r\n'.repeat(CRLF_FLOOD / 4));
  caller.send(request(caller, { method: 'OPTIONS', callId: 'behind' }));
  assert.equal(statusOf(await finalOf(caller, 'behind', 'OPTIONS')), 200);
  assert.ok(caller.bytes < CRLF_FLOOD / 100, `${caller.bytes}`);
});

test('pipelined requests are all answered', async (t) => {
  const caller = await kept(t, TcpCaller.open(server.address));
  const many = Array.from({ length: 300 }, (_, n) =>
    request(caller, { method: 'OPTIONS', callId: `pipe${n}` }),
  );
  caller.send(many.join(''));
  await until(() => caller.heard.filter((message) => statusOf(message) > 0).length === 300);
  await servesGoodCallers();
});

for (const [what, text] of [
  ['markup with a pause', '%3Cspeak%3E%3Cbreak%20time%3D%220.1s%22%2F%3EHi%20there%3C%2Fspeak%3E'],
  ['control characters and a header', '%00%07%1B%5B31mHi%20there%0D%0AVia%3A%20x'],
  ['markup that is never closed', '%3C%3Cunclosed%20%26%20broken%3E'],
] as const) {
  test(`the text of an announcement may hold ${what}: it is heard, and the call ends`, async (t) => {
    const caller = await kept(t, UdpCaller.open(server.address));
    const rtp = await kept(t, RtpPeer.open());
    const body = offer('127.0.0.1', rtp.port);
    const { callId, answer } = await callFrom(caller, { uri: `sip:annc@127.0.0.1;text=${text}`, body });
    assert.equal(answer.match(/^Via:/gm)?.length, 1);
    await until(() =>
      caller.heard.some((message) => message.startsWith('BYE ') && field(message, 'Call-ID') === callId),
    );
    caller.send(okTo(caller.heard.find((message) => message.startsWith('BYE ')) ?? ''));
    const speech = voiced(g711Sound(rtp.heard), 8000);
    assert.ok(speech.length > 0.25 * 8000, `${speech.length / 8000} s of speech`);
    await until(() => server.telephone.size === 0);
  });
}

test('an announcement that cannot be spoken is 488, and one that is too long 414', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const endless = '%3Cspeak%3E%3Cbreak%20time%3D%2299999s%22%2F%3EHi%20there%3C%2Fspeak%3E';
  for (const [text, status] of [
    ['%F0%9F%98%80%E2%80%AE%EF%BF%BF', 488],
    [endless, 488],
    ['x'.repeat(201), 414],
  ] as const) {
    assert.equal(statusOf(await refusalOf(caller, { uri: `sip:annc@127.0.0.1;text=${text}` })), status);
  }
  assert.equal(server.telephone.size, 0);
});

test('the words of a rule cannot add header fields to our answers', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const answer = await refusalOf(caller, { uri: 'sip:no@127.0.0.1' });
  assert.equal(statusOf(answer), 486);
  assert.match(field(answer, 'Reason') ?? '', /^Q\.850;cause=17;text="so \\"busy\\" \\\\ and;more"$/i);
});

test('a name or number to call that would break out of its header is refused before anything is sent', async () => {
  const sent = network().transactions.open.client;
  const bodies = [
    { to: 'sip:1@127.0.0.1\r\nX: y' },
    { to: 'sip:1@127.0.0.1', from: '1>\r\nX: y' },
    { to: 'sip:1@127.0.0.1', headers: { 'X-A': 'b\r\nVia: c' } },
    { to: 'sip:1@127.0.0.1', headers: { 'X-A\r\nB': 'c' } },
    { to: 'sip:1@127.0.0.1', display_name: 'a"\r\nX: y' },
  ];
  for (const body of bodies) {
    const response = await fetch(`${server.server.url}/v1/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 400, JSON.stringify(body));
  }
  assert.ok(
    network().transactions.open.client <= sent,
    'no transaction begins; those of earlier calls may end',
  );
});

test('a flood of INVITEs is refused with 503 beyond the limits, and counted', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address, FLOODER));
  const [before, flood] = [dropped('flood'), 3000];
  for (let n = 0; n < flood; n++) {
    const sent = caller.sent(request(caller, { callId: `flood${n}`, fromTag: `x${n}` }));
    if (n % 50 === 49) await sent;
  }
  // Retry-After is for a server without room; the excess of a source is refused without it.
  const isExcess = (message: string) =>
    statusOf(message) === 503 && field(message, 'Retry-After') === undefined;
  await until(() => dropped('flood') > before && caller.heard.some(isExcess));
  const answers = new Map<string, string>();
  for (const heard of caller.heard)
    if (statusOf(heard) >= 200) answers.set(field(heard, 'Call-ID') ?? '', heard);
  const refused = [...answers.values()].filter((message) => statusOf(message) !== 200);
  assert.deepEqual([...new Set(refused.map(statusOf))], [503]);
  const calls = [...answers].filter(([, message]) => statusOf(message) === 200);
  assert.ok(calls.length <= MAX_CALLS && server.telephone.size <= MAX_CALLS, `${calls.length}`);
  assert.ok(network().transactions.open.pendingInvites <= MAX_CALLS);
  // The flooder leaves, and there is room again.
  for (const [callId, answer] of calls) {
    const id = { callId, fromTag: `x${callId.slice(5)}`, toTag: tagIn(field(answer, 'To')) };
    caller.send(request(caller, { method: 'ACK', ...id }));
    caller.send(request(caller, { method: 'BYE', ...id, cseq: 2 }));
  }
  await until(() => server.telephone.size === 0);
  await servesGoodCallers();
});

test('every request is counted with its final response, by method and status', async (t) => {
  const counted = async (name: string): Promise<Map<string, number>> => {
    const text = await (await fetch(`${server.server.url}/metrics`)).text();
    const lines = text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\d+)$`, 'gm'));
    return new Map([...lines].map(([, labels = '', value]) => [labels, Number(value)]));
  };
  const counts = async () =>
    [await counted('parley_sip_requests_total'), await counted('parley_sip_responses_total')] as const;
  const caller = await kept(t, UdpCaller.open(server.address));
  const [requests, responses] = await counts();
  await hangUp(caller, await callFrom(caller));
  for (let n = 0; n < 3; n++) {
    caller.send(request(caller, { method: 'OPTIONS', callId: `counted${n}` }));
    await finalOf(caller, `counted${n}`, 'OPTIONS');
  }
  assert.equal(statusOf(await refusalOf(caller, { uri: 'sip:no@127.0.0.1' })), 486);
  const grown = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
    Object.fromEntries(
      [...after]
        .map(([labels, value]) => [labels, value - (before.get(labels) ?? 0)] as const)
        .filter(([, value]) => value > 0),
    );
  const [requestsNow, responsesNow] = await counts();
  // On a machine with much to do some are not looked at, which is counted, too.
  const turnedAway = caller.heard.filter(isOverloaded).length;
  assert.deepEqual(grown(requests, requestsNow), {
    'method="INVITE",direction="in"': 2 + turnedAway,
    'method="BYE",direction="in"': 1,
    'method="OPTIONS",direction="in"': 3,
  });
  assert.deepEqual(grown(responses, responsesNow), {
    'method="INVITE",status="200",direction="in"': 1,
    'method="INVITE",status="486",direction="in"': 1,
    'method="BYE",status="200",direction="in"': 1,
    'method="OPTIONS",status="200",direction="in"': 3,
    ...(turnedAway === 0 ? {} : { 'method="INVITE",status="503",direction="in"': turnedAway }),
  });
});

const network = () => server.telephone.network;

function tagIn(to: string | undefined): string {
  return /;tag=([^;\s]+)/.exec(to ?? '')?.[1] ?? '';
}

/** The WWW-Authenticate that this caller gets for an INVITE, and nothing else. */
async function challenged(caller: UdpCaller, callId: string): Promise<string> {
  caller.send(request(caller, { callId }));
  const answer = await finalOf(caller, callId);
  assert.equal(statusOf(answer), 401, answer);
  const md5 = answer.split('\r\n').find((line) => /^WWW-Authenticate:.*algorithm=MD5/i.test(line));
  return md5 ?? '';
}

function credentials(challenge: string, username: string, password: string): string {
  const nonce = /nonce="([^"]+)"/.exec(challenge)?.[1] ?? '';
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const [uri, nc, cnonce] = ['sip:parley@127.0.0.1', '00000001', 'abcdef'];
  const first = md5(`${username}:parley:${password}`);
  const response = md5(`${first}:${nonce}:${nc}:${cnonce}:auth:${md5(`INVITE:${uri}`)}`);
  return `Authorization: Digest username="${username}", realm="parley", nonce="${nonce}", uri="${uri}", algorithm=MD5, qop=auth, nc=${nc}, cnonce="${cnonce}", response="${response}"`;
}

let logins = 0;

/** The response to an INVITE with a password. */
async function loggedInAnswer(
  caller: UdpCaller,
  username: string,
  password: string,
  headers: readonly string[] = [],
): Promise<string> {
  for (;;) {
    const callId = `login${++logins}`;
    const challenge = await challenged(caller, callId);
    const again = { callId: `${callId}b`, fromTag: `l${logins}`, cseq: 2 };
    caller.send(
      request(caller, { ...again, headers: [credentials(challenge, username, password), ...headers] }),
    );
    const answer = await finalOf(caller, again.callId);
    if (!isOverloaded(answer)) return answer;
  }
}

async function loggedIn(
  caller: UdpCaller,
  username: string,
  password: string,
  headers: readonly string[] = [],
): Promise<RawCall> {
  const answer = await loggedInAnswer(caller, username, password, headers);
  assert.equal(statusOf(answer), 200, answer);
  const call = {
    callId: field(answer, 'Call-ID') ?? '',
    fromTag: tagIn(field(answer, 'From')),
    toTag: tagIn(field(answer, 'To')),
    answer,
  };
  caller.send(request(caller, { method: 'ACK', ...idOf(call), cseq: 2 }));
  await until(() => server.telephone.list()[0]?.state === 'connected');
  return call;
}

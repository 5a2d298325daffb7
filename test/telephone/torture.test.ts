// The torture messages of RFC 4475 at a running server, over UDP: each gets the response of the RFC for a
// server with these capabilities, or none.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { parseMessage } from '../../sip/message/message.js';
import { until } from '../fakes/until.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { INVALID, MPART01, SEMANTICS, VALID } from '../sip/message/rfc4475-messages.js';
import { field, isOverloaded } from './raw-caller.js';

/**
 * Responses go to the port in Via, or to 5060 (RFC 3261, section 18.2.2): this address has that port to
 * itself.
 */
const HOST = '127.0.0.45';
const PORT = 5060;

/** First lines; a rule refuses admissible calls with 480. */
const EXPECTED: Readonly<Record<string, string>> = {
  // 3.1.1: valid
  wsinv: '481 Call/Transaction Does Not Exist', // To has a tag
  intmeth: '501 Not Implemented',
  esc01: '480 Temporarily Unavailable',
  escnull: '405 Method Not Allowed',
  esc02: '501 Not Implemented',
  lwsdisp: '200 OK',
  longreq: '480 Temporarily Unavailable',
  dblreq: '405 Method Not Allowed', // and the second request behind it is not looked at
  semiuri: '200 OK',
  transports: '200 OK',
  unreason: '',
  noreason: '',
  MPART01: '405 Method Not Allowed',
  // 3.1.2: invalid
  badinv01: '400 Bad Via',
  clerr: '400 Bad Content-Length',
  ncl: '400 Bad Content-Length',
  scalar02: '400 Bad CSeq',
  scalarlg: '',
  quotbal: '400 Bad To',
  ltgtruri: '400 Bad Request-URI',
  lwsruri: '400 Bad Request-Line',
  lwsstart: '400 Bad Request-Line',
  trws: '400 Bad Request-Line',
  escruri: '400 Bad Request-URI',
  baddate: '480 Temporarily Unavailable',
  regbadct: '400 Bad Contact',
  badaspec: '400 Bad To',
  baddn: '400 Bad From',
  badvers: '505 Version Not Supported',
  mismatch01: '400 CSeq Method Does Not Match',
  mismatch02: '400 CSeq Method Does Not Match',
  bigcode: '',
  // 3.2 to 3.4
  badbranch: '200 OK',
  insuf: '400 Missing From',
  unkscm: '416 Unsupported URI Scheme',
  novelsc: '416 Unsupported URI Scheme',
  unksm2: '405 Method Not Allowed', // nobody is registered here, under whatever scheme
  bext01: '420 Bad Extension',
  invut: '415 Unsupported Media Type',
  regaut01: '405 Method Not Allowed',
  multi01: '400 Repeated CSeq',
  mcl01: '400 Repeated Content-Length',
  bcast: '',
  zeromf: '200 OK', // for us, not for somebody behind us
  cparam01: '405 Method Not Allowed',
  cparam02: '405 Method Not Allowed',
  regescrt: '405 Method Not Allowed',
  sdp01: '406 Not Acceptable',
  inv2543: '400 Missing Contact', // RFC 2543 is not spoken
};

const MESSAGES: Readonly<Record<string, Buffer>> = { ...VALID, MPART01, ...INVALID, ...SEMANTICS };
let server: TelephoneServer;
const sockets: Socket[] = [];
const heard: string[] = [];

before(async () => {
  server = await TelephoneServer.start({ SIP_ALLOW: HOST }, { routes: [{ reject: { status: 480 } }] });
  const stated = Object.values(MESSAGES).map((bytes) =>
    Number(/^v(?:ia)?\s*:[^\r;]*:(\d+)/im.exec(bytes.toString('latin1'))?.[1] ?? PORT),
  );
  for (const port of new Set([PORT, ...stated])) sockets.push(await socketAt(port));
});
after(async () => {
  await server.close();
  for (const socket of sockets) socket.close();
});

async function socketAt(port: number): Promise<Socket> {
  const socket = createSocket('udp4', (bytes) => heard.push(bytes.toString('latin1')));
  socket.bind(port, HOST);
  await once(socket, 'listening');
  return socket;
}

/**
 * Final responses to a message, until a later request was answered and at least that many came; no
 * repetitions.
 */
async function finalsTo(bytes: Buffer, least: number): Promise<string[]> {
  const before = heard.length;
  const known = new Set(heard);
  const callId = `behind-${before}`;
  const behind = [
    'OPTIONS sip:parley@127.0.0.1 SIP/2.0',
    `Via: SIP/2.0/UDP ${HOST};branch=z9hG4bK${callId}`,
    'From: <sip:torture@test>;tag=1',
    'To: <sip:parley@127.0.0.1>',
    `Call-ID: ${callId}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0\r\n\r\n',
  ];
  for (const datagram of [bytes, Buffer.from(behind.join('\r\n'))])
    sockets[0]?.send(datagram, server.address.port, server.address.host);
  const isBehind = (message: string): boolean => field(message, 'Call-ID') === callId;
  // One that was not looked at is refused in the same words each time, and never by itself again.
  const isNew = (message: string): boolean => !known.has(message) || isOverloaded(message);
  const isFinal = (message: string): boolean => !isBehind(message) && !message.startsWith('SIP/2.0 100 ');
  const finals = (): string[] =>
    [...new Set(heard.slice(before))].filter((message) => isNew(message) && isFinal(message));
  await until(() => heard.some(isBehind) && finals().length >= least);
  return finals();
}

/** Several messages share a branch, which is meant for one transaction. */
function withBranchOfItsOwn(name: string, bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  return Buffer.from(text.replace(/(branch\s*=\s*z9hG4bK[\w-]+)/, `$1-${name}`), 'latin1');
}

/** Repeats the message while an overloaded server does not process it. */
async function finalsOf(name: string, least: number): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const bytes = withBranchOfItsOwn(`${name}-${attempt}`, MESSAGES[name] ?? Buffer.alloc(0));
    const finals = await finalsTo(bytes, least);
    if (!finals.some(isOverloaded)) return finals;
  }
}

test('no message is left out', () => {
  assert.deepEqual(Object.keys(EXPECTED).toSorted(), Object.keys(MESSAGES).toSorted());
});

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`${name}: ${expected === '' ? 'nothing' : expected}`, async () => {
    const lines = expected === '' ? [] : [`SIP/2.0 ${expected}`];
    const finals = await finalsOf(name, lines.length);
    assert.deepEqual(
      finals.map((message) => message.split('\r\n')[0]),
      lines,
    );
    const request = parseMessage(MESSAGES[name] ?? Buffer.alloc(0));
    const [answer = ''] = finals;
    if (request.kind !== 'request' || answer === '') return;
    const read = parseMessage(Buffer.from(answer, 'latin1'));
    assert.ok(read.kind === 'response', answer);
    assert.deepEqual(
      [read.response.callId, read.response.cseq],
      [request.request.callId, request.request.cseq],
    );
    assert.equal(read.response.all('via').length, request.request.all('via').length);
  });
}

test('the refusals say what would be taken', async () => {
  const [extension = ''] = await finalsTo(withBranchOfItsOwn('again', SEMANTICS.bext01), 1);
  assert.equal(field(extension, 'Unsupported'), 'nothingSupportsThis, nothingSupportsThisEither');
  const [type = ''] = await finalsTo(withBranchOfItsOwn('again', SEMANTICS.invut), 1);
  assert.match(field(type, 'Accept') ?? '', /^application\/sdp, /);
  const [method = ''] = await finalsTo(withBranchOfItsOwn('again', SEMANTICS.cparam01), 1);
  assert.match(field(method, 'Allow') ?? '', /^INVITE, ACK, BYE, /);
  assert.equal(server.telephone.size, 0);
});

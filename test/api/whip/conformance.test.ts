// One row for each line of RFC 9725 (WHIP) and draft-ietf-wish-whep that concerns the HTTP side: a request,
// and the status, headers and body of its answer. A row without `paths` holds for both endpoints.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppOptions } from '../../../src/api/app.js';
import { ParleyError } from '../../../src/errors.js';
import { openApp, openServer } from '../app-under-test.js';
import { ANSWER, type FakeExchange, tokenOf } from '../calls/fake-exchange.js';
import { audioOffer, section, videoOffer } from './offer.js';

type Path = '/whip' | '/whep';
type Headers = Readonly<Record<string, string>>;
type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

interface Request {
  readonly method: Method;
  /** Below the endpoint; `{session}` is a session that was opened before. */
  readonly at?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

interface Row {
  readonly name: string;
  readonly paths?: readonly Path[];
  readonly options?: Partial<AppOptions> & { readonly apiKeys?: readonly string[] };
  /** Called before the request, when the session is open. */
  readonly given?: (calls: FakeExchange) => void;
  readonly request: Request | ((path: Path) => Request);
  readonly status: number;
  /** Headers that the answer must have; undefined: must not have. */
  readonly headers?: Readonly<Record<string, string | RegExp | undefined>>;
  /** Body as a text, or the code of the problem details. */
  readonly body?: string | RegExp;
  readonly problem?: string;
  /** Called after the answer. */
  readonly after?: (calls: FakeExchange) => void;
}

const SDP = { 'content-type': 'application/sdp' };
const FRAGMENT = { 'content-type': 'application/trickle-ice-sdpfrag' };
const PWD = '0123456789abcdefghijklmn';
const KEY = 'key-one-0123456789';
const TRICKLED = `a=ice-ufrag:offered\r\na=ice-pwd:${PWD}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host\r\na=end-of-candidates\r\n`;
const RESTARTED = TRICKLED.replace('ufrag:offered', 'ufrag:renewed');
const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const SESSION = '/sessions/{session}';
const ETAG = '"ice01"'; // of the session that each row opens first

const directionOf = (path: Path) => (path === '/whip' ? 'sendonly' : 'recvonly');
const post = (body: string | Buffer, headers: Headers = {}): Request => ({
  method: 'POST',
  headers: { ...SDP, ...headers },
  body,
});
const offer =
  (lines: Parameters<typeof audioOffer>[0] = {}, headers: Headers = {}) =>
  (path: Path): Request =>
    post(audioOffer({ direction: directionOf(path), ...lines }), headers);
const patch = (body: string | Buffer, headers: Headers = { 'if-match': ETAG }): Request => ({
  method: 'PATCH',
  at: SESSION,
  headers: { ...FRAGMENT, ...headers },
  body,
});
const twice = (kind: string) => [...section(kind), ...section(kind)];

const ENDPOINT: readonly Row[] = [
  {
    name: 'an offer is answered with 201, the answer, its location and a strong entity tag',
    request: offer(),
    status: 201,
    headers: {
      'content-type': 'application/sdp',
      location: /^\/wh[ie]p\/sessions\/rtc_2$/,
      etag: '"ice02"',
      'parley-call-token': tokenOf('rtc_2'),
      link: undefined,
    },
    body: ANSWER,
    after: ({ sessions }) => assert.equal(sessions.size, 2),
  },
  {
    name: 'WHIP publishes and does not listen',
    paths: ['/whip'],
    request: offer(),
    status: 201,
    after: ({ offers }) => assert.deepEqual([offers[1]?.use, offers[1]?.listenTo], ['publish', undefined]),
  },
  {
    name: 'WHEP listens to a call of its own',
    paths: ['/whep'],
    request: offer(),
    status: 201,
    after: ({ offers }) => assert.deepEqual([offers[1]?.use, offers[1]?.listenTo], ['listen', undefined]),
  },
  {
    name: 'parameters and the case of the content type do not matter',
    request: offer({}, { 'content-type': 'Application/SDP; charset=utf-8' }),
    status: 201,
  },
  {
    name: 'another content type is refused, and the right one named',
    request: offer({}, { 'content-type': 'application/json' }),
    status: 415,
    headers: { 'accept-post': 'application/sdp' },
    problem: 'unsupported_media_type',
  },
  {
    name: 'an ICE fragment is no offer',
    request: offer({}, FRAGMENT),
    status: 415,
    problem: 'unsupported_media_type',
  },
  {
    name: 'an offer without a body has no content type either',
    request: { method: 'POST' },
    status: 415,
    problem: 'unsupported_media_type',
  },
  { name: 'malformed SDP', request: post('hello'), status: 400, problem: 'sdp_invalid' },
  { name: 'an empty offer', request: post(''), status: 400, problem: 'sdp_invalid' },
  {
    name: 'an offer that is not UTF-8',
    request: post(Buffer.from([0x76, 0xff, 0xfe])),
    status: 400,
    problem: 'sdp_invalid',
  },
  {
    name: 'an offer of 1 MB',
    request: post(`v=0\r\n${'a=x\r\n'.repeat(210_000)}`),
    status: 413,
    problem: 'body_too_large',
  },
  {
    name: 'GET on the endpoint has no content',
    request: { method: 'GET' },
    status: 204,
    body: '',
  },
  {
    name: 'HEAD tells players that this is WHEP',
    paths: ['/whep'],
    request: { method: 'HEAD' },
    status: 200,
    headers: { 'content-type': 'application/sdp' },
    body: '',
  },
  { name: 'HEAD on WHIP', paths: ['/whip'], request: { method: 'HEAD' }, status: 204, body: '' },
  {
    name: 'a plain OPTIONS names types and methods, among them PATCH',
    request: { method: 'OPTIONS' },
    status: 200,
    headers: {
      'accept-post': 'application/sdp',
      allow: 'GET, HEAD, OPTIONS, POST',
      'access-control-allow-methods': METHODS,
      link: undefined,
    },
  },
  {
    name: 'a method that the endpoint does not have is answered with those that it has',
    request: { method: 'PUT', headers: SDP, body: 'x' },
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS, POST' },
    problem: 'method_not_allowed',
  },
  {
    name: 'DELETE is none of the endpoint',
    request: { method: 'DELETE' },
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS, POST' },
    problem: 'method_not_allowed',
  },
  {
    name: 'an address below the endpoint',
    request: { method: 'GET', at: '/x' },
    status: 404,
    problem: 'not_found',
  },
  {
    name: 'overload is answered with 503 and Retry-After',
    given: (calls) => (calls.refusal = new ParleyError('OVERLOADED', 'the processor is busy')),
    request: offer(),
    status: 503,
    headers: { 'retry-after': '2' },
    problem: 'overloaded',
  },
  {
    name: 'a server that is full says when to come back',
    given: (calls) => (calls.refusal = new ParleyError('CALL_LIMIT', 'full', { retryAfterSeconds: 7 })),
    request: offer(),
    status: 503,
    headers: { 'retry-after': '7' },
    problem: 'call_limit',
  },
  {
    name: 'a server that closes',
    given: (calls) => (calls.refusal = new ParleyError('CALL_CLOSED', 'the server is closing')),
    request: offer(),
    status: 503,
    headers: { 'retry-after': '1' },
    problem: 'call_closed',
  },
  {
    name: 'a client with too many sessions',
    given: (calls) => (calls.refusal = new ParleyError('CLIENT_LIMIT', 'four')),
    request: offer(),
    status: 429,
    headers: { 'retry-after': '5' },
    problem: 'client_limit',
  },
];

const NO_TURN = { iceServers: ['stun:stun.example.org'], turnSecret: undefined, turnTtlSeconds: 60 };
const TURN = {
  iceServers: ['stun:stun.example.org', 'turn:turn.example.org?transport=udp', 'turns:turn.example.org:443'],
  turnSecret: 'a-secret-of-the-turn-server',
  turnTtlSeconds: 60,
};
const CREDENTIALS = 'username="\\d+:[0-9a-f]{12}"; credential="[\\w+/]{27}="; credential-type="password"';

const SERVERS: readonly Row[] = [
  {
    name: 'a STUN server is named in a Link of the 201',
    options: { webrtc: NO_TURN },
    request: offer(),
    status: 201,
    headers: { link: '<stun:stun.example.org>; rel="ice-server"' },
  },
  {
    name: 'each TURN server has a Link with credentials',
    options: { webrtc: TURN },
    request: offer(),
    status: 201,
    headers: {
      link: new RegExp(
        `^<stun:stun\\.example\\.org>; rel="ice-server"\n<turn:turn\\.example\\.org\\?transport=udp>; rel="ice-server"; ${CREDENTIALS}\n<turns:turn\\.example\\.org:443>; rel="ice-server"; ${CREDENTIALS}$`,
      ),
    },
  },
  {
    name: 'no Link names an extension, because the server has none',
    options: { webrtc: TURN },
    request: offer(),
    status: 201,
    headers: { link: /^(?![^]*urn:ietf:params:wh[ie]p:ext)/ },
  },
  {
    name: 'no ICE server is named in a refusal',
    options: { webrtc: TURN },
    request: post('hello'),
    status: 400,
    headers: { link: undefined },
  },
  {
    name: 'no ICE server is named in a preflight',
    options: { webrtc: TURN, corsOrigins: ['https://shop.example'] },
    request: {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    },
    status: 200,
    headers: { link: undefined },
  },
];

const ACCESS: readonly Row[] = [
  {
    name: 'an offer without a token is refused, and the scheme named',
    options: { apiKeys: [KEY] },
    request: offer(),
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="parley"' },
    problem: 'invalid_api_key',
  },
  {
    name: 'an offer with a wrong token is refused',
    options: { apiKeys: [KEY] },
    request: offer({}, { authorization: 'Bearer key-two-0123456789' }),
    status: 401,
    problem: 'invalid_api_key',
  },
  {
    name: 'an offer with the right token is answered',
    options: { apiKeys: [KEY] },
    request: offer({}, { authorization: `Bearer ${KEY}` }),
    status: 201,
  },
  ...(['PATCH', 'DELETE', 'GET'] as const).map((method) => ({
    name: `${method} of a session needs the token`,
    options: { apiKeys: [KEY] },
    request: {
      method,
      at: SESSION,
      headers: { ...FRAGMENT, 'if-match': '*' },
      body: method === 'PATCH' ? TRICKLED : '',
    },
    status: 401,
    problem: 'invalid_api_key',
  })),
  {
    name: 'a preflight never needs a token, and names types, methods and headers',
    options: { apiKeys: [KEY], corsOrigins: ['https://shop.example'] },
    request: {
      method: 'OPTIONS',
      at: SESSION,
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type,if-match',
      },
    },
    status: 200,
    headers: {
      'accept-post': 'application/sdp',
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': 'authorization,content-type,if-match',
    },
  },
  {
    name: 'a page of a listed origin may read every header that it needs',
    options: { corsOrigins: ['https://shop.example'] },
    request: offer({}, { origin: 'https://shop.example' }),
    status: 201,
    headers: {
      'access-control-expose-headers':
        /^(?=.*\bLocation\b)(?=.*\bETag\b)(?=.*\bLink\b)(?=.*\bRetry-After\b)(?=.*\bAccept-Post\b)(?=.*\bX-Request-Id\b)(?=.*\bAccess-Control-Allow-Methods\b)(?=.*\bParley-Call-Token\b)/,
      'access-control-allow-origin': 'https://shop.example',
    },
  },
  {
    name: 'a page of another origin may not publish or listen at a server without keys',
    request: offer({}, { origin: 'https://evil.example' }),
    status: 403,
    problem: 'forbidden',
  },
];

const DIRECTIONS: readonly Row[] = [
  ...(['recvonly', 'inactive'] as const).map((direction) => ({
    name: `a WHIP offer must not be ${direction}`,
    paths: ['/whip'] as const,
    request: offer({ direction }),
    status: 422,
    problem: 'sdp_refused',
  })),
  ...(['sendonly', 'inactive'] as const).map((direction) => ({
    name: `a WHEP offer must not be ${direction}`,
    paths: ['/whep'] as const,
    request: offer({ direction }),
    status: 422,
    problem: 'sdp_refused',
  })),
  { name: 'sendrecv may be offered', request: offer({ direction: 'sendrecv' }), status: 201 },
  { name: 'an offer without a direction is sendrecv', request: offer({ direction: 'x' }), status: 201 },
  {
    name: 'an inactive section beside a good one refuses the whole offer',
    request: offer({ more: section('video', ['inactive', 'setup:actpass']) }),
    status: 422,
    problem: 'sdp_refused',
  },
  {
    name: 'two audio sections',
    request: offer({ more: section('audio') }),
    status: 422,
    problem: 'sdp_refused',
  },
  {
    name: 'two video sections',
    request: offer({ more: twice('video') }),
    status: 422,
    problem: 'sdp_refused',
  },
  { name: 'video without audio', request: post(videoOffer()), status: 422, problem: 'sdp_refused' },
  { name: 'one video section beside the audio', request: offer({ more: section('video') }), status: 201 },
  { name: 'a data channel beside the audio', request: offer({ more: section('application') }), status: 201 },
  {
    name: 'sections that the client itself refuses do not count',
    request: offer({ more: section('audio', ['inactive'], 0) }),
    status: 201,
  },
  {
    name: 'a section that is bundled only counts, although its port is 0',
    request: offer({ more: section('audio', ['bundle-only'], 0) }),
    status: 422,
    problem: 'sdp_refused',
  },
  {
    name: 'two MediaStreams',
    request: offer({ msid: 's1 t1', more: section('video', ['msid:s2 t2']) }),
    status: 422,
    problem: 'sdp_refused',
  },
  {
    name: 'two tracks of one MediaStream',
    request: offer({ msid: 's1 t1', more: section('video', ['msid:s1 t2']) }),
    status: 201,
  },
  { name: 'a client that is only a DTLS client', request: offer({ setup: 'active' }), status: 201 },
  ...['passive', 'holdconn', 'x'].map((setup) => ({
    name: `the DTLS role ${setup} is none that a client may offer`,
    request: offer({ setup }),
    status: 422,
    problem: 'sdp_refused',
  })),
  {
    name: 'no common codec',
    given: (calls) => (calls.refusal = new ParleyError('NO_COMMON_CODEC', 'none')),
    request: offer(),
    status: 422,
    problem: 'no_common_codec',
  },
];

const SESSIONS: readonly Row[] = [
  {
    name: 'DELETE ends the session',
    request: { method: 'DELETE', at: SESSION },
    status: 204,
    body: '',
    after: ({ sessions }) => assert.equal(sessions.size, 0),
  },
  {
    name: 'DELETE ignores entity tags',
    request: { method: 'DELETE', at: SESSION, headers: { 'if-match': '"other"' } },
    status: 204,
  },
  {
    name: 'DELETE of an unknown session',
    request: { method: 'DELETE', at: '/sessions/x' },
    status: 404,
    problem: 'not_found',
  },
  { name: 'GET on a session has no content', request: { method: 'GET', at: SESSION }, status: 204, body: '' },
  { name: 'HEAD on a session', request: { method: 'HEAD', at: SESSION }, status: 204, body: '' },
  {
    name: 'GET of an unknown session',
    request: { method: 'GET', at: '/sessions/x' },
    status: 404,
    problem: 'not_found',
  },
  {
    name: 'a plain OPTIONS of a session names types and methods',
    request: { method: 'OPTIONS', at: SESSION },
    status: 200,
    headers: {
      'accept-post': 'application/sdp',
      'accept-patch': 'application/trickle-ice-sdpfrag',
      allow: 'DELETE, GET, HEAD, OPTIONS, PATCH',
      'access-control-allow-methods': METHODS,
    },
  },
  {
    name: 'POST is none of a session',
    request: { method: 'POST', at: SESSION, headers: SDP, body: audioOffer() },
    status: 405,
    headers: { allow: 'DELETE, GET, HEAD, OPTIONS, PATCH' },
    problem: 'method_not_allowed',
  },
];

const TRICKLE: readonly Row[] = [
  {
    name: 'candidates are answered with 204, without a body or an entity tag',
    request: patch(TRICKLED),
    status: 204,
    headers: { etag: undefined, 'content-type': undefined },
    body: '',
    after: ({ fragments }) =>
      assert.deepEqual(fragments, [
        [
          'rtc_1',
          { ufrag: 'offered', pwd: PWD, candidates: ['1 1 udp 2122260223 192.0.2.1 61764 typ host'] },
        ],
      ]),
  },
  {
    name: 'a list of entity tags that has the present one',
    request: patch(TRICKLED, { 'if-match': `"a", ${ETAG}` }),
    status: 204,
  },
  {
    name: 'the older header of the entity tag counts as If-Match',
    request: patch(TRICKLED, { etag: ETAG }),
    status: 204,
  },
  {
    name: 'a fragment without credentials',
    request: patch('a=candidate:1 1 udp 1 192.0.2.1 9 typ host'),
    status: 204,
  },
  { name: 'the end of the candidates alone', request: patch('a=end-of-candidates\n'), status: 204 },
  {
    name: 'a candidate of an unknown transport or address is taken silently',
    request: patch('a=candidate:1 1 quic 1 ::name:: 9 typ odd\r\n'),
    status: 204,
  },
  {
    name: 'a candidate that is in every section counts once',
    request: patch(
      `${TRICKLED}m=audio 9 RTP/AVP 0\r\na=mid:1\r\na=candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host\r\n`,
    ),
    status: 204,
    after: ({ fragments }) => assert.equal(fragments[0]?.[1].candidates.length, 1),
  },
  {
    name: 'a fragment made with an SDP library, with lines of a whole description',
    request: patch(`v=0\r\ns= \r\n${TRICKLED}`),
    status: 204,
  },
  { name: 'no entity tag', request: patch(TRICKLED, {}), status: 428, problem: 'precondition_required' },
  {
    name: 'another entity tag',
    request: patch(TRICKLED, { 'if-match': '"ice99"' }),
    status: 412,
    problem: 'precondition_failed',
  },
  {
    name: 'another entity tag in the older header',
    request: patch(TRICKLED, { etag: '"ice99"' }),
    status: 412,
    problem: 'precondition_failed',
  },
  {
    name: 'a weak entity tag never matches',
    request: patch(TRICKLED, { 'if-match': `W/${ETAG}` }),
    status: 412,
    problem: 'precondition_failed',
  },
  {
    name: 'an unknown session comes before a missing entity tag',
    request: { ...patch(TRICKLED, {}), at: '/sessions/x' },
    status: 404,
    problem: 'not_found',
  },
  {
    name: 'another type of fragment is refused, and the right one named',
    request: patch(TRICKLED, { 'content-type': 'text/plain', 'if-match': ETAG }),
    status: 415,
    headers: { 'accept-patch': 'application/trickle-ice-sdpfrag' },
    problem: 'unsupported_media_type',
  },
  {
    name: 'an answer to a counter-offer is refused, because the server makes none',
    request: patch(ANSWER, { ...SDP, 'if-match': ETAG }),
    status: 415,
    problem: 'unsupported_media_type',
  },
  { name: 'an empty fragment', request: patch(''), status: 400, problem: 'sdp_invalid' },
  { name: 'a malformed fragment', request: patch('{"candidate":"x"}'), status: 400, problem: 'sdp_invalid' },
  {
    name: 'a fragment that is not UTF-8',
    request: patch(Buffer.from([0x61, 0x3d, 0xff])),
    status: 400,
    problem: 'sdp_invalid',
  },
  {
    name: 'a user fragment without a password',
    request: patch('a=ice-ufrag:abcd'),
    status: 400,
    problem: 'sdp_invalid',
  },
  {
    name: 'a user fragment that is too short',
    request: patch(`a=ice-ufrag:abc\r\na=ice-pwd:${PWD}`),
    status: 400,
    problem: 'sdp_invalid',
  },
  {
    name: 'two user fragments',
    request: patch(`${TRICKLED}a=ice-ufrag:other\r\n`),
    status: 400,
    problem: 'sdp_invalid',
  },
  {
    name: '65 candidates',
    request: patch(
      Array.from({ length: 65 }, (_, n) => `a=candidate:${n} 1 udp 1 192.0.2.1 9 typ host`).join('\r\n'),
    ),
    status: 400,
    problem: 'sdp_invalid',
    after: ({ fragments }) => assert.deepEqual(fragments, []),
  },
  {
    name: '64 candidates',
    request: patch(
      Array.from({ length: 64 }, (_, n) => `a=candidate:${n} 1 udp 1 192.0.2.1 9 typ host`).join('\r\n'),
    ),
    status: 204,
  },
  {
    name: 'thousands of candidates',
    request: patch('a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n'.repeat(5000)),
    status: 413,
    problem: 'body_too_large',
  },
  {
    name: 'a line of 2,001 characters',
    request: patch(`a=${'x'.repeat(1999)}`),
    status: 400,
    problem: 'sdp_invalid',
  },
  { name: '1,001 lines', request: patch('a=x\n'.repeat(1000) + 'a=x'), status: 400, problem: 'sdp_invalid' },
];

const RESTART: readonly Row[] = [
  {
    name: 'other credentials restart ICE, with a new entity tag and the ICE attributes of the answer',
    request: patch(RESTARTED, { 'if-match': '*' }),
    status: 200,
    headers: { etag: '"ice11"', 'content-type': 'application/trickle-ice-sdpfrag' },
    body: [
      'a=ice-lite',
      'a=group:BUNDLE 0',
      'm=audio 9 UDP/TLS/RTP/SAVPF 0',
      'a=mid:0',
      'a=ice-ufrag:server1',
      `a=ice-pwd:${'p'.repeat(24)}`,
      'a=candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host',
      'a=end-of-candidates',
      '',
    ].join('\r\n'),
  },
  {
    name: 'the asterisk may be in quotes, as in the example of the RFC',
    request: patch(RESTARTED, { 'if-match': '"*"' }),
    status: 200,
  },
  {
    name: 'other credentials under the present entity tag restart ICE as well',
    request: patch(RESTARTED),
    status: 200,
    headers: { etag: '"ice11"' },
  },
  {
    name: 'after a restart the first entity tag is outdated',
    given: (calls) => void calls.patchIce('rtc_1', { ufrag: 'renewed', pwd: PWD, candidates: [] }),
    request: patch(TRICKLED),
    status: 412,
    problem: 'precondition_failed',
  },
  {
    name: 'a restart needs If-Match',
    request: patch(RESTARTED, {}),
    status: 428,
    problem: 'precondition_required',
  },
  {
    name: 'a restart that fails keeps the session and its entity tag',
    given: (calls) => (calls.patchRefusal = new ParleyError('SDP_INVALID', 'no restart now')),
    request: patch(RESTARTED, { 'if-match': '*' }),
    status: 400,
    headers: { etag: undefined },
    problem: 'sdp_invalid',
    after: (calls) => assert.equal(calls.iceSession('rtc_1'), 'ice01'),
  },
];

const LISTENING: readonly Row[] = [
  {
    name: 'a listener hears the call that it names, and gets no token',
    paths: ['/whep'],
    request: (path) => ({ ...offer()(path), at: '?call=rtc_1' }),
    status: 201,
    headers: { location: '/whep/sessions/rtc_2', 'parley-call-token': undefined },
    after: ({ offers }) => assert.equal(offers[1]?.listenTo, 'rtc_1'),
  },
  {
    name: 'WHIP hears no call',
    paths: ['/whip'],
    request: (path) => ({ ...offer()(path), at: '?call=rtc_1' }),
    status: 201,
    after: ({ offers }) => assert.equal(offers[1]?.listenTo, undefined),
  },
  {
    name: 'a call that is unknown',
    paths: ['/whep'],
    request: (path) => ({ ...offer()(path), at: '?call=rtc_9' }),
    status: 404,
    problem: 'not_found',
  },
  {
    name: 'a call named twice',
    paths: ['/whep'],
    request: (path) => ({ ...offer()(path), at: '?call=rtc_1&call=rtc_1' }),
    status: 400,
    problem: 'invalid_value',
  },
  {
    name: 'a call with nothing to hear yet is answered with 409 and Retry-After',
    paths: ['/whep'],
    given: ({ silent }) => silent.add('rtc_1'),
    request: (path) => ({ ...offer()(path), at: '?call=rtc_1' }),
    status: 409,
    headers: { 'retry-after': '1' },
    problem: 'call_state',
  },
  {
    name: 'the token of the call is enough at a server with keys',
    paths: ['/whep'],
    options: { apiKeys: [KEY] },
    request: (path) => ({
      ...offer({}, { authorization: `Bearer ${tokenOf('rtc_1')}` })(path),
      at: '?call=rtc_1',
    }),
    status: 201,
    after: ({ offers }) => assert.equal(offers[1]?.owner, undefined),
  },
  {
    name: 'the token opens no call of its own',
    options: { apiKeys: [KEY] },
    request: offer({}, { authorization: `Bearer ${tokenOf('rtc_1')}` }),
    status: 401,
    problem: 'invalid_api_key',
  },
  {
    name: 'the token of another call is not enough',
    paths: ['/whep'],
    options: { apiKeys: [KEY] },
    request: (path) => ({
      ...offer({}, { authorization: `Bearer ${tokenOf('rtc_7')}` })(path),
      at: '?call=rtc_1',
    }),
    status: 401,
    problem: 'invalid_api_key',
  },
  {
    name: 'the token of the call ends its session',
    options: { apiKeys: [KEY] },
    request: { method: 'DELETE', at: SESSION, headers: { authorization: `Bearer ${tokenOf('rtc_1')}` } },
    status: 204,
  },
];

const GROUPS = { ENDPOINT, SERVERS, ACCESS, DIRECTIONS, SESSIONS, TRICKLE, RESTART, LISTENING };

type AppUnderTest = Awaited<ReturnType<typeof openApp>>;

for (const [group, rows] of Object.entries(GROUPS)) {
  test(`${group.toLowerCase()}: the answer to each request is that of the RFC`, async (t) => {
    const apps = new Map<string, AppUnderTest>(); // by options: rows that have the same share an application
    for (const row of rows) {
      const key = JSON.stringify(row.options);
      const app = apps.get(key) ?? (await openApp(t, row.options));
      apps.set(key, app);
      for (const path of row.paths ?? (['/whip', '/whep'] as const)) {
        await t.test(`${path}: ${row.name}`, () => check(app, row, path));
      }
    }
  });
}

async function check({ app, calls }: AppUnderTest, row: Row, path: Path): Promise<void> {
  calls.reset();
  await calls.open({ sdp: audioOffer(), use: 'talk' });
  row.given?.(calls);
  const request = typeof row.request === 'function' ? row.request(path) : row.request;
  const { method, at = '', headers = {}, body } = request;
  const answer = await app.inject({
    method,
    url: path + at.replace('{session}', 'rtc_1'),
    headers: { host: 'localhost', ...headers },
    ...(body === undefined ? {} : { payload: body }),
  });
  assert.equal(answer.statusCode, row.status, answer.body);
  checkHeaders(answer.headers, row);
  if (row.body instanceof RegExp) assert.match(answer.body, row.body);
  else if (row.body !== undefined) assert.equal(answer.body, row.body);
  if (row.status >= 400) checkProblem(answer, row);
  row.after?.(calls);
}

type AnswerHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

function checkHeaders(given: AnswerHeaders, { headers = {} }: Row): void {
  for (const [name, value] of Object.entries(headers)) {
    const lines = [given[name] ?? []].flat().join('\n');
    if (value instanceof RegExp) assert.match(lines, value, name);
    else assert.equal(given[name] === undefined ? undefined : lines, value, name);
  }
}

function checkProblem(
  answer: { headers: Record<string, unknown>; json: () => unknown },
  { status, problem }: Row,
) {
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  const { title, status: stated, detail, code } = answer.json() as Record<string, unknown>;
  assert.equal(stated, status);
  assert.ok(String(title).length > 3 && String(detail).length > 3);
  if (problem !== undefined) assert.equal(code, problem);
}

test('a client that floods a session or an endpoint gets 429, and others do not', async (t) => {
  const { app, calls } = await openApp(t, { whipRequestsPerMinute: 5 });
  await calls.open({ sdp: audioOffer(), use: 'talk' });
  const send = (method: Method, at: string, remoteAddress: string) =>
    app.inject({
      method,
      url: at,
      headers: { ...FRAGMENT, 'if-match': '*' },
      payload: TRICKLED,
      remoteAddress,
    });
  const statuses: number[] = [];
  for (const [method, at] of [
    ['PATCH', '/whip/sessions/rtc_1'],
    ['PATCH', '/whep/sessions/rtc_1'],
    ['POST', '/whip'],
    ['DELETE', '/whep/sessions/guess'],
    ['PATCH', '/whip/sessions/rtc_1'],
    ['PATCH', '/whip/sessions/rtc_1'],
    ['DELETE', '/whip/sessions/rtc_1'],
    ['POST', '/whep'],
  ] as const) {
    statuses.push((await send(method, at, '192.0.2.1')).statusCode);
  }
  assert.deepEqual(statuses, [204, 204, 415, 404, 204, 429, 429, 429]);
  const refused = await send('PATCH', '/whip/sessions/rtc_1', '192.0.2.1');
  assert.equal(refused.headers['content-type'], 'application/problem+json');
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  assert.equal(
    (await app.inject({ url: '/whip/sessions/rtc_1', remoteAddress: '192.0.2.1' })).statusCode,
    204,
  );
  assert.equal((await send('PATCH', '/whip/sessions/rtc_1', '192.0.2.2')).statusCode, 204);
});

test('a session whose client left before the answer is ended', async (t) => {
  const { url, calls } = await openServer(t);
  let answerNow!: () => void;
  calls.ready = new Promise((resolve) => (answerNow = resolve));
  const asked = new Promise<void>((resolve) => {
    const open = calls.open.bind(calls);
    calls.open = (made) => (resolve(), open(made));
  });
  const ended = new Promise<string>((resolve) => {
    calls.hangUp = (id) => (resolve(id), Promise.resolve(calls.sessions.delete(id)));
  });
  const leaving = new AbortController();
  const request = { method: 'POST', headers: SDP, body: audioOffer(), signal: leaving.signal };
  const left = assert.rejects(fetch(`${url}/whip`, request));
  await asked;
  leaving.abort();
  await left;
  // The server sees the closed socket in a later turn of the loop than the client.
  await fetch(`${url}/health`);
  answerNow();
  assert.equal(await ended, 'rtc_1');
  assert.equal(calls.sessions.size, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DIGEST_ALGORITHMS, knownPeer } from '../../../sip/auth/digest.js';
import { DigestClient } from '../../../sip/auth/digest-client.js';
import { DigestServer } from '../../../sip/auth/digest-server.js';
import { Nonces } from '../../../sip/auth/nonces.js';
import { FAILURE_BOUNDS, Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import { parseMessage, type SipRequest } from '../../../sip/message/message.js';
import type { Refusal } from '../../../sip/message/refusal.js';
import { SipAdmission, RecentPeers } from '../../../sip/telephone/sip-admission.js';
import { readUserFile } from '../../../sip/telephone/telephone-settings.js';
import type { Flow } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';

function openAdmission() {
  const time = new ManualTime(1000);
  const guard = new Guard({
    time,
    allowed: ['127.0.0.0/8'],
    challenged: ['10.0.0.0/8'],
    requests: REQUEST_BOUNDS,
    failures: FAILURE_BOUNDS,
  });
  const randomBytes = (count: number) => Buffer.alloc(count, 7);
  const digest = new DigestServer({
    realm: 'parley',
    algorithms: DIGEST_ALGORITHMS.filter(({ name }) => name === 'SHA-256' || name === 'MD5'),
    qops: ['auth'],
    nonces: new Nonces({
      time,
      secret: Buffer.alloc(32, 1),
      randomBytes,
      lifetimeMs: 60_000,
      mostCounted: 10,
    }),
    secretOf: (username) => (username === 'anna' ? { password: 'secret' } : undefined),
  });
  const recentPeers = new RecentPeers(time);
  return { guard, recentPeers, admission: new SipAdmission({ guard, digest, recentPeers }) };
}

function invite(more: readonly string[] = []): SipRequest {
  const lines = [
    'INVITE sip:100@parley SIP/2.0',
    'Via: SIP/2.0/UDP 10.0.0.1;branch=z9hG4bK1',
    'From: <sip:anna@parley>;tag=a',
    'To: <sip:100@parley>',
    'Call-ID: 1',
    'CSeq: 1 INVITE',
    'Max-Forwards: 70',
    ...more,
  ];
  const parsed = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  assert.equal(parsed.kind, 'request');
  return (parsed as { request: SipRequest }).request;
}

const from = (address: string) => ({ remote: { address, port: 5060 } }) as Flow;

void test('callers of allowed addresses come in as they are, strangers hear nothing', () => {
  const { admission } = openAdmission();
  assert.equal(admission.admits(invite(), from('127.0.0.1'), false), undefined);
  assert.equal(admission.admits(invite(), from('192.0.2.1'), false), 'silence');
  assert.deepEqual([admission.knows('10.1.1.1'), admission.knows('192.0.2.1')], [true, false]);
});

void test('only those who come in as they are may vouch for others', () => {
  const { admission, recentPeers } = openAdmission();
  recentPeers.wrote('192.0.2.1');
  assert.deepEqual(
    ['127.0.0.1', '10.0.0.1', '192.0.2.1'].map((address) => admission.trusts(address)),
    [true, false, false],
  );
});

/** An INVITE from there with the right password. */
function authorized({ admission }: ReturnType<typeof openAdmission>): SipRequest {
  const challenge = admission.admits(invite(), from('10.0.0.1'), false) as Refusal;
  assert.equal(challenge.status, 401);
  const values = challenge.headers.map(([name, value]) => {
    assert.equal(name, 'WWW-Authenticate');
    return value;
  });
  assert.equal(values.length, 2);
  const account = { username: 'anna', secret: { password: 'secret' }, realms: ['parley'] };
  const peer = knownPeer('parley');
  const client = new DigestClient(peer, account, (count) => Buffer.alloc(count, 3));
  const asked = { method: 'INVITE', uri: 'sip:100@parley', body: Buffer.alloc(0) };
  const answer = client.answer(peer, { www: values, proxy: [] }, asked);
  const fields = 'fields' in answer ? answer.fields : [];
  return invite(fields.map(({ name, value }) => `${name}: ${value}`));
}

void test('others are challenged with every algorithm, and come in with the right password', () => {
  const opened = openAdmission();
  const { admission } = opened;
  const request = authorized(opened);
  assert.equal(admission.admits(request, from('10.0.0.1'), false), undefined);
  assert.deepEqual([admission.authenticated(request), admission.authenticated(invite())], [true, false]);
  // A repeated answer comes from another sender, or was duplicated on its way.
  const again = admission.admits(request, from('10.0.0.1'), false) as Refusal;
  assert.equal(again.status, 401);
  assert.match(again.headers[0]?.[1] ?? '', /, stale=true$/);
});

void test('a right password that comes again and again is not counted as a wrong one', () => {
  const opened = openAdmission();
  const request = authorized(opened);
  const verdicts = Array.from({ length: 20 }, () =>
    opened.admission.admits(request, from('10.0.0.1'), false),
  );
  assert.equal((verdicts.at(-1) as Refusal).status, 401);
  assert.equal(opened.guard.counts.banned, 0);
});

void test('while there is too much to do no password is spent, and strangers still hear nothing', () => {
  const opened = openAdmission();
  const { admission } = opened;
  const request = authorized(opened);
  const busy = (address: string) => admission.admits(request, from(address), false, true);
  assert.deepEqual(['127.0.0.1', '10.0.0.1', '10.0.0.1', '192.0.2.1'].map(busy), [
    undefined,
    undefined,
    undefined,
    'silence',
  ]);
  assert.equal(admission.admits(request, from('10.0.0.1'), false, false), undefined, 'it is still good');
});

void test('where nobody has a password, those who would need one hear nothing, busy or not', () => {
  const { guard, recentPeers } = openAdmission();
  const admission = new SipAdmission({ guard, digest: undefined, recentPeers });
  const verdicts = [false, true].map((busy) => admission.admits(invite(), from('10.0.0.1'), false, busy));
  assert.deepEqual(verdicts, ['silence', 'silence']);
});

void test('a source of wrong passwords is not heard any more', () => {
  const { admission, guard } = openAdmission();
  const nonce = (admission.admits(invite(), from('10.0.0.1'), false) as Refusal).headers[0]?.[1].match(
    /nonce="([^"]+)"/,
  )?.[1];
  const wrong = invite([
    `Authorization: Digest username="anna", realm="parley", nonce="${nonce}", uri="sip:100@parley", response="${'0'.repeat(64)}", algorithm=SHA-256, qop=auth, nc=00000001, cnonce="x"`,
  ]);
  const verdicts = Array.from({ length: 12 }, () => admission.admits(wrong, from('10.0.0.1'), false));
  assert.equal(verdicts.at(-1), 'silence');
  assert.ok(guard.counts.banned > 0);
  assert.equal(admission.admits(invite(), from('10.0.0.1'), true), undefined, 'what is expected is let in');
});

void test('whoever this server has written to is heard within calls, and may begin none', () => {
  const { admission, recentPeers } = openAdmission();
  recentPeers.wrote('192.0.2.1');
  assert.equal(admission.knows('192.0.2.1'), true);
  assert.equal(admission.admits(invite(), from('192.0.2.1'), true), undefined);
  assert.equal(admission.admits(invite(), from('192.0.2.1'), false), 'silence');
});

void test('each line is a caller with a password, which may hold colons', () => {
  const { users } = readUserFile('# phones\n\nanna:secret\r\nbert:a:b\n');
  assert.deepEqual(
    [...(users ?? [])],
    [
      ['anna', { password: 'secret' }],
      ['bert', { password: 'a:b' }],
    ],
  );
});

void test('mistakes are told by line and quote nothing', () => {
  const { problems } = readUserFile('anna:secret\nno password\n:x\nanna:again\nbert:');
  assert.deepEqual(problems, [
    'line 2 is not name:password',
    'line 3 is not name:password',
    'line 4 repeats the user name of an earlier line',
    'line 5 is not name:password',
  ]);
});

// The accounts of calls: the SID and the token of each API key.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { KeyRing } from '../../../src/api/http/api-keys.js';
import { accountSid, recordingSid, twimlAccounts } from '../../../src/api/twiml/sids.js';

const NAMED = 'acme key-of-acme-0001';
const NAMELESS = 'key-without-a-name';

test('a key is its own token, with the SID of its name, or of itself if it has none', () => {
  const ring = new KeyRing({ keys: [NAMED, NAMELESS] });
  const accountOf = twimlAccounts({ keyOf: (owner) => ring.keyOf(owner), authToken: undefined });
  assert.deepEqual(accountOf('acme'), {
    sid: accountSid({ name: 'acme', key: '' }),
    authToken: 'key-of-acme-0001',
  });
  assert.deepEqual(accountOf(ring.nameOf(NAMELESS)), {
    sid: accountSid({ name: undefined, key: NAMELESS }),
    authToken: NAMELESS,
  });
});

test('calls without a key have the account of parley and its token', () => {
  const accountOf = twimlAccounts({ keyOf: () => assert.fail(), authToken: 'a-token' });
  assert.deepEqual(accountOf(undefined), { sid: accountSid(undefined), authToken: 'a-token' });
});

test('a key that is gone signs nothing any more, and a new one signs at once', () => {
  const ring = new KeyRing({ keys: [], file: true });
  ring.replaceFileKeys([NAMED]);
  const accountOf = twimlAccounts({ keyOf: (owner) => ring.keyOf(owner), authToken: 'a-token' });
  assert.equal(accountOf('acme').authToken, 'key-of-acme-0001');
  ring.replaceFileKeys(['other key-of-other-0001']);
  assert.equal(accountOf('acme').authToken, undefined);
  assert.equal(accountOf('other').authToken, 'key-of-other-0001');
});

test('the SID of a recording is RE and the digest of its name', () => {
  const name = '20261118T101112123Z_call_4f0c19a5_all_5f0e6b21.wav';
  const digest = createHash('sha256').update(name).digest('hex');
  assert.equal(recordingSid(name), `RE${digest.slice(0, 32)}`);
});

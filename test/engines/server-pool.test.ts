// Which server gets the next request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerPool } from '../../src/engines/openai/server-pool.js';
import { ManualTime } from '../fakes/manual-time.js';

function poolOf(count: number) {
  const time = new ManualTime(0);
  const servers = Array.from({ length: count }, (_, n) => ({ baseUrl: `http://${n}`, apiKey: undefined }));
  return { pool: new ServerPool(servers, time), time, servers };
}

test('the server with the fewest requests gets the next one', () => {
  const { pool } = poolOf(3);
  const leases = Array.from({ length: 6 }, () => pool.take());
  const chosen = leases.map(({ server }) => server.baseUrl);
  assert.deepEqual(chosen, ['http://0', 'http://1', 'http://2', 'http://0', 'http://1', 'http://2']);
  leases[1]?.answered();
  assert.equal(pool.take().server.baseUrl, 'http://1');
});

test('a client stays with its server, unless that has many more requests than another', () => {
  const { pool } = poolOf(2);
  pool.take();
  const { server } = pool.take('anna');
  assert.equal(server.baseUrl, 'http://1');
  for (let n = 0; n < 5; n++) assert.equal(pool.take('anna').server, server);
  assert.notEqual(pool.take('anna').server, server);
});

test('three failures in a row leave a server alone, each time for twice as long, and one request tries it', () => {
  const { pool, time, servers } = poolOf(2);
  const [bad, good] = servers;
  const fail = () => {
    const lease = pool.take(undefined, new Set([good ?? assert.fail()]));
    assert.equal(lease.server, bad);
    lease.failed();
  };
  for (let n = 0; n < 3; n++) fail();
  assert.equal(pool.usable, 1);
  for (let n = 0; n < 5; n++) assert.equal(pool.take().server, good);
  for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    time.advance(pauseMs - 1);
    assert.equal(pool.take().server, good);
    time.advance(1);
    const trial = pool.take();
    assert.equal(trial.server, bad);
    assert.equal(pool.take().server, good, 'only one request tries it');
    trial.failed();
  }
  time.advance(30_000);
  pool.take().answered();
  assert.equal(pool.usable, 2);
});

test('an answer ends the count of failures', () => {
  const { pool } = poolOf(1);
  for (let n = 0; n < 10; n++) {
    pool.take().failed();
    pool.take().failed();
    pool.take().answered();
  }
  assert.equal(pool.usable, 1);
});

test('a server that is busy is left alone for as long as it says', () => {
  const { pool, time, servers } = poolOf(2);
  pool.take().busy(2000);
  for (let n = 0; n < 3; n++) assert.equal(pool.take().server, servers[1]);
  time.advance(2000);
  assert.equal(pool.take().server, servers[0]);
});

test('where all are left alone, the one whose pause ends first is asked', () => {
  const { pool, servers } = poolOf(2);
  pool.take().busy(2000);
  pool.take().busy(1000);
  assert.equal(pool.usable, 0);
  assert.equal(pool.take().server, servers[1]);
});

test('a request that was given up says nothing about its server', () => {
  const { pool } = poolOf(1);
  for (let n = 0; n < 10; n++) pool.take().givenUp();
  assert.equal(pool.usable, 1);
});

test('a server that is set aside is tried by one request after its pause', () => {
  const { pool, time, servers } = poolOf(2);
  pool.setAside(servers[0] ?? assert.fail());
  for (let n = 0; n < 3; n++) assert.equal(pool.take().server, servers[1]);
  time.advance(30_000);
  const trial = pool.take();
  assert.equal(trial.server, servers[0]);
  assert.equal(pool.take().server, servers[1]);
  trial.answered();
  assert.equal(pool.usable, 2);
});

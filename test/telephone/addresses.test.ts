// Where the telephone door listens: on addresses of both families, or nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { callFrom, field, hangUp, UdpCaller } from './raw-caller.js';

test('callers are answered at each address, with signalling and sound where they called', async (t) => {
  const server = await kept(t, TelephoneServer.start({ SIP_HOST: '127.0.0.1,127.0.0.8,::1' }));
  assert.equal((server.telephone.health['listening'] as string[]).length, 6);
  for (const host of ['127.0.0.1', '127.0.0.8', '::1']) {
    const from = host === '::1' ? host : '127.0.0.1';
    const caller = await kept(t, UdpCaller.open({ host, port: server.address.port }, from));
    const call = await callFrom(caller);
    const shown = host === '::1' ? '[::1]' : host;
    assert.ok((field(call.answer, 'Contact') ?? '').includes(`@${shown}:`), call.answer);
    assert.match(call.answer, new RegExp(`^c=IN IP[46] ${host.replaceAll('.', '\\.')}\\r$`, 'm'));
    await hangUp(caller, call);
  }
  await until(() => server.telephone.size === 0);
});

test('SIP_ENABLED=0 opens no telephone door, and its addresses say so', async (t) => {
  const config = readConfig({
    PORT: '0',
    ENGINE: 'flite',
    LOG_LEVEL: 'silent',
    PRELOAD_MODEL: '0',
    SIP_ENABLED: '0',
  });
  const server = await kept(t, startServer(config));
  assert.equal(server.telephone, undefined);
  assert.equal((await fetch(`${server.url}/v1/calls`)).status, 501);
});

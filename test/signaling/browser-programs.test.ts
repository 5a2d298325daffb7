// Browser calls that a call program conducts.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CallHandler } from '../../src/call/call-handler.js';
import type { CallPrograms } from '../../src/call/call-programs.js';
import type { ProgramSource } from '../../src/config/ivr-config.js';
import { openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

const MAIN: ProgramSource = { kind: 'program', name: 'main' };

class FakePrograms implements Pick<CallPrograms, 'conduct' | 'problemOf'> {
  readonly conducted: { readonly call: string; readonly source: ProgramSource }[] = [];
  readonly typed: string[] = [];

  problemOf(source: ProgramSource): string | undefined {
    return source.kind === 'program' && source.name === 'main' ? undefined : 'there is no such program';
  }

  conduct(...[handled, source]: Parameters<CallPrograms['conduct']>) {
    this.conducted.push({ call: handled.call.id, source });
    return { typed: (text: string) => void this.typed.push(text) };
  }
}

const HANDLER: CallHandler = {
  usual: 'sales',
  has: (agent) => agent === 'sales',
  opened: () => undefined,
  handle: () => assert.fail('the program conducts the call'),
  connect: () => assert.fail('the program conducts the call'),
};

/** @param label of the data channel */
async function called(t: TestContext, label: string) {
  const programs = new FakePrograms();
  const dialects = [{ label: 'relay', open: () => assert.fail('the program conducts the call') }];
  const under = await openServer(t, { programs, handler: HANDLER, dialects });
  const client = new WeriftClient('opus', { label });
  t.after(() => client.close());
  const { id, sdp } = await under.server.open({ sdp: await client.offer(), program: 'main' });
  await client.accept(sdp);
  const ready = await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready');
  return { ...under, client, programs, id, ready };
}

test('a program conducts the call that names it, in place of the usual agent, and hears what is typed', async (t) => {
  const { client, programs, id, ready } = await called(t, 'parley');
  assert.deepEqual(programs.conducted, [{ call: id, source: MAIN }]);
  assert.deepEqual([ready['program'], ready['agent']], ['main', undefined]);
  client.channel.send(JSON.stringify({ type: 'prompt', text: 'billing' }));
  await client.until(() => programs.typed.length > 0, 'typed text');
  assert.deepEqual(programs.typed, ['billing']);
});

test('a program conducts a call whose data channel has the label of another protocol', async (t) => {
  const { programs, ready } = await called(t, 'relay');
  assert.deepEqual([programs.conducted.length, ready['program']], [1, 'main']);
});

for (const { name, offer, message } of [
  { name: 'a program that is not there', offer: { program: 'none' }, message: 'there is no such program' },
  {
    name: 'a program together with an agent',
    offer: { program: 'main', agent: 'sales' },
    message: 'a program conducts the call: "agent" must be absent',
  },
]) {
  test(`${name} is refused before there is a call`, async (t) => {
    const { server } = await openServer(t, { programs: new FakePrograms(), handler: HANDLER });
    const client = new WeriftClient('opus');
    t.after(() => client.close());
    const refused = server.open({ sdp: await client.offer(), ...offer });
    await assert.rejects(refused, { code: 'INVALID_FIELD', field: 'program', message });
    assert.equal(server.size, 0);
  });
}

test('a server without call programs says so', async (t) => {
  const { server } = await openServer(t);
  const client = new WeriftClient('opus');
  t.after(() => client.close());
  const refused = server.open({ sdp: await client.offer(), program: 'main' });
  await assert.rejects(refused, { code: 'INVALID_FIELD', message: 'this server has no call programs' });
});

// Messages of a call, damaged and sent into another one like it: whatever comes,
// nothing is thrown, and the call can still be ended with nothing left of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLEE, CALLER } from '../transaction/users.js';
import { seeded } from '../transaction/network.js';
import { NegotiatedMedia } from './negotiated-media.js';
import { type Calling, Told, TwoEnds } from './two-ends.js';

const VALUES = [
  '',
  ';',
  ',',
  '<',
  '"',
  '%',
  '%zz',
  '0',
  '-1',
  '99999999999999999999',
  'x y z',
  '<sip:a@b',
  '<tel:1>',
  'é',
  '\0',
];
const JUNK_HEADERS = ['RSeq', 'RAck', 'Require', 'Refer-To', 'Replaces', 'Event', 'Reason', 'Session-Expires', 'Min-SE', 'Contact', 'Record-Route', 'Refer-Sub', 'Expires', 'Content-Type', 'Info-Package', 'Allow', 'CSeq', 'Subscription-State']; // prettier-ignore

/** A call in which every kind of request is sent, by both sides. */
async function everything(): Promise<{ ends: TwoEnds; call: Calling }> {
  const { ends, call } = await begun();
  const [session] = ends.invited;
  void session?.reoffer();
  await ends.network.pass(200);
  void call.inDialog.reoffer();
  void session?.sendDigit('5', 100);
  void call.ask('UPDATE');
  void call.ask('OPTIONS');
  void session?.refer({ uri: 'sip:carol@192.0.2.3' });
  await ends.network.pass(200);
  call.told.asked[0]?.accept();
  await ends.network.pass(200);
  void call.inDialog.hangUp();
  await ends.network.pass(200);
  return { ends, call };
}

async function begun(): Promise<{ ends: TwoEnds; call: Calling }> {
  const ends = new TwoEnds();
  const media = new NegotiatedMedia(CALLEE, 7);
  ends.act = (session) => {
    session.user = new Told();
    session.progress(media);
    session.accept(media, new Told());
  };
  const call = ends.call();
  await ends.network.pass(50);
  void call.ask('PRACK', [['RAck', `${call.responses[0]?.first('rseq') ?? ''} 1 INVITE`]]);
  await ends.network.pass(100);
  return { ends, call };
}

function damaged(text: string, random: () => number, index: number): Buffer {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const [head = '', ...rest] = text.split('\r\n\r\n');
  // A branch of its own, so that it is no retransmission, and a number above those before.
  const lines = head
    .replace(/branch=z9hG4bK/, `branch=z9hG4bK${index}x`)
    .replace(/^CSeq: (\d+)/m, (_all, digits: string) => `CSeq: ${Number(digits) + index}`)
    .split('\r\n');
  const at = 1 + Math.floor(random() * (lines.length - 1));
  const name = (lines[at] ?? '').split(':')[0] ?? '';
  const kind = Math.floor(random() * 5);
  if (kind === 0) lines.splice(at, 1);
  else if (kind === 1) lines[at] = `${name}: ${pick(VALUES)}`;
  else if (kind === 2) lines.push(`${pick(JUNK_HEADERS)}: ${pick(VALUES)}`);
  else if (kind === 3) lines.push(lines[at] ?? '');
  const body =
    kind === 4 ? rest.join('\r\n\r\n').slice(0, Math.floor(random() * 100)) : rest.join('\r\n\r\n');
  const sized = lines.map((line) => (line.startsWith('Content-Length') ? `Content-Length: ${Buffer.byteLength(body)}` : line)); // prettier-ignore
  return Buffer.from(`${sized.join('\r\n')}\r\n\r\n${body}`);
}

for (const seed of [1, 2, 3, 4]) {
  void test(`damaged messages of every kind throw nothing and leave nothing behind (seed ${seed})`, async () => {
    const random = seeded(seed);
    const models = (await everything()).ends.network.carried.map(({ from, text }) => ({ from, text }));
    const methods = new Set(models.map(({ text }) => /^\S+/.exec(text)?.[0]));
    for (const method of ['INVITE', 'ACK', 'BYE', 'PRACK', 'UPDATE', 'INFO', 'REFER', 'NOTIFY', 'OPTIONS']) assert.ok(methods.has(method), method);
    const { ends, call } = await begun();
    for (let index = 1; index <= 300; index++) {
      const { from, text } = models[Math.floor(random() * models.length)] ?? assert.fail();
      if (text.startsWith('BYE') && index < 250) continue;
      ends.network.post(from, from === CALLER ? CALLEE : CALLER, damaged(text, random, index));
      await ends.network.pass(10);
      for (const session of ends.invited) {
        if (session.state === 'inviting' && random() < 0.5) session.reject(486);
      }
    }
    for (const session of ends.invited) void session.hangUp();
    void call.inDialog.hangUp();
    for (const { agent } of ends.all) for (const one of agent.context.dialogs.all) void one.bye({ by: 'us' });
    await ends.network.pass(900_000, 500);
    for (const { agent, layer } of ends.all) {
      assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
      assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
    }
    assert.equal(ends.network.time.waiting, 0);
  });
} // prettier-ignore

// Browsers' telephones call the server: SIP over WebSocket (RFC 7118), ICE and
// DTLS-SRTP, with SIP.js in a real Chromium.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { PhoneCallView } from '../../src/call/phone-calls.js';
import { until } from '../fakes/until.js';
import { BrowserPhone, type PhoneOptions, PhoneSite } from './browser-phone.js';
import { kept } from './telephone/kept.js';
import { TelephoneServer } from './telephone/telephone-server.js';

let site: PhoneSite;
let server: TelephoneServer;

before(async () => {
  site = await PhoneSite.open();
  server = await TelephoneServer.start({ CORS_ORIGINS: site.origin });
});
after(async () => {
  await site.close();
  await server.close();
});

interface Talking {
  readonly phone: BrowserPhone;
  readonly id: string;
  readonly view: () => PhoneCallView;
}

async function calling(t: TestContext, on = server, options: PhoneOptions = {}): Promise<Talking> {
  const before = new Set(on.telephone.list().map(({ id }) => id));
  const phone = await kept(t, BrowserPhone.open(site, on.server.url, options));
  await phone.call();
  const found = () => on.telephone.list().find(({ id, state }) => !before.has(id) && state === 'connected');
  await until(() => found() !== undefined);
  const { id } = found() as PhoneCallView;
  return { phone, id, view: () => on.telephone.get(id) };
}

/** Resolves when sound has come in since. */
async function hears({ phone }: Talking): Promise<void> {
  const before = await phone.heard();
  await until(async () => {
    const now = await phone.heard();
    return now.packetsReceived > before.packetsReceived + 50 && now.totalAudioEnergy > before.totalAudioEnergy + 0.001;
  }); // prettier-ignore
}

test('a browser that calls hears the greeting', async (t) => {
  const talking = await calling(t);
  await hears(talking);
  const { packetsLost, codec } = await talking.phone.heard();
  assert.deepEqual({ packetsLost, codec }, { packetsLost: 0, codec: 'audio/G722' });
  const view = talking.view();
  assert.deepEqual([view.codec, view.srtp, view.to], ['G722', 'dtls', 'sip:100@127.0.0.1']);
});

// Telephones walk the example menu of extension 600 by keys: SIPp with an RTP peer, and baresip. The server
// hangs up at the end of the menu.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../fakes/until.js';
import { Baresip } from './baresip.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { g711Sound } from './rtp-record.js';
import { Sipp } from './sipp.js';
import { likeness, loudness, type Sound } from './sound-shape.js';
import { TelephoneServer } from './telephone-server.js';

const RATE = 8000;
const QUIET = 0.01; // share of full scale
const ALIKE = 0.9; // loudness correlation
const EXTENSION = '600';
const BILLING = 'You have reached billing. Goodbye.';

let server: TelephoneServer;
let goodbye: Sound;

before(async () => {
  server = await TelephoneServer.start();
  goodbye = await server.rendered(BILLING);
});
after(() => server.close());

const isLoud = ({ samples, rate }: Sound) => loudness(samples, rate).some((level) => level > QUIET);

/** The end of what was heard, as long as the last words of the menu. */
function lastWords({ samples, rate }: Sound): Sound {
  const heardMs = (1000 * samples.length) / rate;
  const wordsMs = (1000 * goodbye.samples.length) / goodbye.rate;
  return { samples: samples.subarray(Math.round(((heardMs - wordsMs) * rate) / 1000)), rate };
}

test('SIPp calls the example menu, presses one, hears where it leads, and is hung up on', async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const options = { service: EXTENSION, keys: { rtp_port: rtp.port }, limitS: 60 };
  const sipp = await kept(t, Sipp.call(server.address, 'call-ended-by-callee', options));
  const heard = (from = 0): Sound => ({ samples: g711Sound(rtp.heard.slice(from)), rate: RATE });
  await until(() => rtp.source !== undefined && isLoud(heard()));
  await rtp.stream(rtp.source ?? assert.fail()).press('1');
  const before = rtp.heard.length;
  await sipp.succeeded();
  const { correlation } = likeness(lastWords(heard(before)), goodbye);
  assert.ok(correlation > ALIKE, `it sounds like the words to ${correlation}`);
});

test('baresip calls the example menu, presses one, hears where it leads, and is hung up on', async (t) => {
  const baresip = await kept(t, Baresip.start({ codecs: ['PCMU/8000/1'] }));
  await baresip.command('dial', `sip:${EXTENSION}@${server.address.host}:${server.address.port}`);
  await baresip.told('CALL_ESTABLISHED');
  await baresip.until('hear the menu', 10_000, () => isLoud(baresip.heard()));
  await baresip.command('sndcode', '1');
  await baresip.told('CALL_CLOSED');
  await until(() => server.telephone.list().every(({ state }) => state === 'ended'));
  const { correlation } = likeness(lastWords(baresip.heard()), goodbye);
  assert.ok(correlation > ALIKE, `it sounds like the words to ${correlation}`);
});

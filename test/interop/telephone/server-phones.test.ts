// Telephones call the server: baresip, Linphone, and SIPp through Kamailio and
// rtpengine. What they hear is the greeting, over every transport and codec.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificates, type Issued } from '../../sip/transport/transports-under-test.js';
import { Baresip, type BaresipOptions } from './baresip.js';
import { Kamailio } from './kamailio.js';
import { kept } from './kept.js';
import { Linphone, type LinphoneOptions } from './linphone.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity, g711Sound } from './rtp-record.js';
import { Rtpengine } from './rtpengine.js';
import { Sipp } from './sipp.js';
import { likeness, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const HEARD_LIMIT_MS = 9000;
const ALIKE = 0.9; // loudness correlation, through a codec and a jitter buffer

let server: TelephoneServer;
let greeting: Sound;
let certificates: Issued;
const folder = mkdtempSync(join(tmpdir(), 'parley-phones-'));

before(async () => {
  certificates = await issueCertificates();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { cert, key } = certificates.server;
  // A telephone that is only just starting to listen may miss the first words.
  const environment = {
    SIP_TLS_CERT: file('cert', cert),
    SIP_TLS_KEY: file('key', key),
    GREETING: `Welcome. ${GREETING}`,
  };
  server = await TelephoneServer.start(environment);
  greeting = await server.rendered(environment.GREETING);
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const BARESIPS: Readonly<Record<string, () => BaresipOptions>> = {
  'UDP and PCMU': () => ({ codecs: ['PCMU/8000/1'] }),
  'TCP, PCMA and SRTP': () => ({ transport: 'tcp', codecs: ['PCMA/8000/1'], encryption: 'srtp-mand' }),
  'UDP and G.722': () => ({ codecs: ['G722/16000/1'] }),
  'TLS, Opus and SRTP': () => ({
    transport: 'tls',
    codecs: ['opus/48000/2'],
    encryption: 'srtp-mand',
    certificate: certificates.client,
    authority: certificates.ca,
  }),
};

for (const [kind, options] of Object.entries(BARESIPS)) {
  test(`baresip hears the greeting over ${kind}`, async (t) => {
    const { transport, codecs } = options();
    const baresip = await kept(t, Baresip.start(options()));
    const { port } = transport === 'tls' ? server.tlsAddress : server.address;
    await baresip.command(
      'dial',
      `sip:parley@127.0.0.1:${port}${transport === undefined ? '' : `;transport=${transport}`}`,
    );
    await baresip.told('CALL_ESTABLISHED');
    await baresip.until('hear it', HEARD_LIMIT_MS, () => likeness(baresip.heard(), greeting).longerMs > -120);
    const { correlation, longerMs } = likeness(baresip.heard(), greeting);
    assert.ok(correlation > ALIKE && longerMs < 200, JSON.stringify({ correlation, longerMs }));
    assert.equal(/Set audio decoder: (\S+)/.exec(baresip.output)?.[1], codecs?.[0]?.split('/')[0]);
    await baresip.command('sndcode', '5');
    const digits = () => server.telephone.list()[0]?.digits.map(({ digit }) => digit);
    await baresip.until('be heard', 2000, () => digits()?.length === 1);
    assert.deepEqual(digits(), ['5']);
    await baresip.command('hangup');
    await baresip.until('hang up', 2000, () => server.telephone.list()[0]?.end?.reason === 'peer hung up');
  });
}

const LINPHONES: Readonly<Record<string, LinphoneOptions>> = {
  'UDP and PCMU': { codecs: ['PCMU'] },
  'TLS, Opus and SRTP': { transport: 'tls', encryption: 'srtp', codecs: ['opus'] },
};

for (const [kind, options] of Object.entries(LINPHONES)) {
  test(`Linphone hears the greeting over ${kind}`, async (t) => {
    const linphone = await kept(t, Linphone.start(options));
    const { port } = options.transport === 'tls' ? server.tlsAddress : server.address;
    linphone.dial(
      `sip:parley@127.0.0.1:${port}${options.transport === undefined ? '' : `;transport=${options.transport}`}`,
    );
    await linphone.established();
    await new Promise((resolve) =>
      setTimeout(resolve, (1000 * greeting.samples.length) / greeting.rate + 500),
    ); // it writes its file in the end
    await linphone.hangUp();
    const { correlation, longerMs } = likeness(linphone.heard(), greeting);
    assert.ok(correlation > ALIKE && Math.abs(longerMs) < 200, JSON.stringify({ correlation, longerMs }));
  });
}

test('a call through Kamailio stays on its route, and its media goes through rtpengine', async (t) => {
  const rtpengine = await kept(t, Rtpengine.start());
  const routes = { parley: `sip:127.0.0.1:${server.address.port}` };
  const kamailio = await kept(t, Kamailio.start({ routes, rtpengine }));
  const rtp = await kept(t, RtpPeer.open());
  const options = {
    keys: { rtp_port: rtp.port },
    holdMs: (1000 * greeting.samples.length) / greeting.rate + 800,
  };
  const sipp = await kept(t, Sipp.call(kamailio.address, 'call-basic', options));
  await sipp.succeeded();
  assert.ok(rtp.heard.every(({ from }) => rtpengine.relaysFrom(from.port)));
  assert.equal(continuity(rtp.heard).lost, 0);
  const { correlation } = likeness({ samples: g711Sound(rtp.heard), rate: 8000 }, greeting);
  assert.ok(correlation > ALIKE, `${correlation}`);
  assert.match(kamailio.output, /parley: BYE/);
});

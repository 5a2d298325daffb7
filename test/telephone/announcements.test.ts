// Announcements as in RFC 4240: the caller hears the text of its request, in the voice and language that the
// request names.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import { continuity, g711Sound } from '../interop/telephone/rtp-record.js';
import { likeness, type Sound } from '../interop/telephone/sound-shape.js';
import { GREETING, TelephoneServer } from '../interop/telephone/telephone-server.js';
import { callFrom, field, offer, okTo, refusalOf, statusOf, UdpCaller } from './raw-caller.js';

const TEXT = 'Mind the gap between the train and the platform.';
const GERMAN = 'Bitte beachten Sie den Abstand zum Bahnsteig.';
const ALIKE = 0.93;

const enc = encodeURIComponent;
const PLAY = `data:text/plain;base64,${Buffer.from(TEXT).toString('base64')}`;

let server: TelephoneServer;

before(async () => {
  server = await TelephoneServer.start(
    { ENGINE: 'auto', ESPEAK: '1' },
    { routes: [{ to: 'annc', announce: {} }] },
  );
});
after(() => server.close());

/** Everything that a caller hears until the server hangs up. */
async function heard(t: TestContext, params: string, headers: readonly string[]): Promise<Sound> {
  const caller = await kept(t, UdpCaller.open(server.address));
  const rtp = await kept(t, RtpPeer.open());
  const body = offer('127.0.0.1', rtp.port);
  const { callId } = await callFrom(caller, { uri: `sip:annc@127.0.0.1${params}`, headers, body });
  const bye = () =>
    caller.heard.find((message) => message.startsWith('BYE ') && field(message, 'Call-ID') === callId);
  await until(() => bye() !== undefined);
  caller.send(okTo(bye() ?? ''));
  assert.deepEqual([continuity(rtp.heard).lost, continuity(rtp.heard).sources.length], [0, 1]);
  return { samples: g711Sound(rtp.heard), rate: 8000 };
}

interface Asked {
  readonly params?: string;
  readonly headers?: readonly string[];
  /** Expected and unexpected sound: texts with further fields of a request over HTTP. */
  readonly like: readonly [text: string, fields?: Readonly<Record<string, string>>];
  readonly unlike: readonly [text: string, fields?: Readonly<Record<string, string>>];
}

const ASKED: Readonly<Record<string, Asked>> = {
  'text and voice in the URI': {
    params: `;text=${enc(TEXT)};voice=awb`,
    like: [TEXT, { voice: 'awb' }],
    unlike: [TEXT, { voice: 'slt' }],
  },
  'text and voice in header fields': {
    headers: [`X-Speech-Text: ${TEXT}`, 'X-Speech-Voice: slt'],
    like: [TEXT, { voice: 'slt' }],
    unlike: [TEXT, { voice: 'awb' }],
  },
  'a text as what play names': {
    params: `;play=${enc(PLAY)};voice=slt`,
    like: [TEXT, { voice: 'slt' }],
    unlike: [GREETING, { voice: 'slt' }],
  },
  'a locale in the URI': {
    params: `;text=${enc(GERMAN)};locale=de_DE`,
    like: [GERMAN, { language: 'de' }],
    unlike: [GERMAN, { language: 'en' }],
  },
  'a language in a header field': {
    headers: [`X-Speech-Text: ${GERMAN}`, 'X-Speech-Language: de'],
    like: [GERMAN, { language: 'de' }],
    unlike: [GERMAN, { language: 'en' }],
  },
  nothing: { like: [GREETING], unlike: [TEXT] },
};

for (const [what, { params = '', headers = [], like, unlike }] of Object.entries(ASKED)) {
  test(`a request with ${what} is heard as it asks, and hung up on`, async (t) => {
    const sound = await heard(t, params, headers);
    const [same, other] = [await server.rendered(...like), await server.rendered(...unlike)];
    const { correlation, longerMs } = likeness(sound, same);
    assert.ok(correlation > ALIKE && Math.abs(longerMs) <= 60, JSON.stringify({ correlation, longerMs }));
    assert.ok(likeness(sound, other).correlation < ALIKE, 'another voice, language or text is told from it');
  });
}

test('a voice that nobody has, or a file that would have to be fetched, is refused', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  for (const [params, status] of [
    [`;text=${enc(TEXT)};voice=nobody`, 488],
    [`;text=${enc(TEXT)};locale=x`, 400],
    [`;play=${enc('http://192.0.2.1/a.wav')}`, 404],
  ] as const) {
    assert.equal(statusOf(await refusalOf(caller, { uri: `sip:annc@127.0.0.1${params}` })), status, params);
  }
});

// A campaign: the client library of Twilio, unchanged, places 20 calls at once, and detects answering
// machines. SIPp answers the calls, and one media peer is all persons and machines.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import twilio from 'twilio';
import { type Asked, formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { type HeardPacket, RtpPeer } from '../interop/telephone/rtp-peer.js';
import { g711Sound } from '../interop/telephone/rtp-record.js';
import { Sipp } from '../interop/telephone/sipp.js';
import { likeness, loudness, type Sound } from '../interop/telephone/sound-shape.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';

const TOKEN = 'the-token-of-this-server';
const ACCOUNT = `AC${'1'.repeat(32)}`;
const CALLS = 20;
const RATE = 8000;
const QUIET = 0.01; // share of full scale
/** The sound of 20 calls comes in bursts on a busy machine, which takes some of the likeness. */
const LEAST_ALIKE = 0.75;
const LEAST_AHEAD = 0.25; // of the likeness to the words for the others
const PAUSE_MS = 50; // between looks
const WORDS = {
  human: 'Good morning. Your parcel comes on Tuesday. Thank you for waiting.',
  machine: 'This is a message for you. Please call us back about your parcel, before Friday afternoon.',
};
type Kind = keyof typeof WORDS;
const ANSWERED_BY: Readonly<Record<Kind, string>> = { human: 'human', machine: 'machine_end_beep' };
const SAID: Readonly<Record<Kind, string>> = {
  human: 'Hello?',
  machine:
    'Hello, this is the voicemail of Anna Smith. I am not at home. Please leave a message after the tone.',
};

const silence = (ms: number) => new Float32Array((ms * RATE) / 1000);
const beep = (ms: number) =>
  Float32Array.from(silence(ms), (_, n) => 0.2 * Math.sin((2 * Math.PI * 1000 * n) / RATE));

/** Looks 20 times a second: the server works on this thread, too. */
const looked = (condition: () => boolean) =>
  until(async () => {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return condition();
  });

/** The application: a document for persons, and one for machines. */
async function openCampaign(t: TestContext) {
  const application = await openApplication(t, (response, { path, body }) => {
    if (path !== '/voice') return void response.writeHead(204).end();
    const isHuman = formIn(body)['AnsweredBy'] === 'human';
    const document = new twilio.twiml.VoiceResponse();
    document.say(isHuman ? WORDS.human : WORDS.machine);
    response.writeHead(200, TWIML).end(document.toString());
  });
  const server = await kept(t, TelephoneServer.start({ TWIML_AUTH_TOKEN: TOKEN }));
  const client = twilio(ACCOUNT, TOKEN);
  client.api.baseUrl = server.server.url;
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(
    t,
    Sipp.answer('answer-basic', { keys: { rtp_port: rtp.port }, calls: CALLS, limitS: 90 }),
  );
  const formOf = ({ path, headers, body }: Asked) => {
    const form = formIn(body);
    const signature = String(headers['x-twilio-signature']);
    assert.ok(twilio.validateRequest(TOKEN, signature, application.origin + path, form), `of ${path}`);
    return form;
  };
  /** The forms of the requests for this path about this call, whose signatures are checked. */
  const told = (path: string, sid: string) =>
    application.asked
      .filter((asked) => asked.path === path && asked.body.includes(sid))
      .map((asked) => formOf(asked));
  const place = async (user: string) => {
    const { sid } = await client.calls.create({
      to: `sip:${user}@127.0.0.1:${sipp.address.port}`,
      from: 'sip:shop@127.0.0.1',
      url: `${application.origin}/voice`,
      machineDetection: 'DetectMessageEnd',
      statusCallback: `${application.origin}/status`,
      statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
    });
    return sid;
  };
  /** The server's media port of the call to this user, once it is offered. */
  const mediaPortOf = async (user: string) => {
    const offer = new RegExp(`^INVITE sip:${user}@[^]*?^m=audio (\\d+)`, 'm');
    await looked(() => offer.test(sipp.messages()));
    return Number(offer.exec(sipp.messages())?.[1]);
  };
  return { server, client, rtp, sipp, told, place, mediaPortOf };
}

type Campaign = Awaited<ReturnType<typeof openCampaign>>;

const soundOf = (packets: readonly HeardPacket[]): Sound => ({ samples: g711Sound(packets), rate: RATE });

const isLoud = ({ samples }: Sound) => loudness(samples, RATE, 20).some((level) => level > QUIET);

/** One call of the campaign, from its beginning to its last callback. */
async function callOne(campaign: Campaign, kind: Kind, user: string, greeting: Float32Array) {
  const { rtp, told, place, mediaPortOf } = campaign;
  const sid = await place(user);
  const port = await mediaPortOf(user);
  await looked(() => told('/status', sid).some((form) => form['CallStatus'] === 'in-progress'));
  const stream = rtp.stream({ host: '127.0.0.1', port });
  const heard = () => rtp.heard.filter(({ from }) => from.port === port);
  await stream.play(silence(400));
  await stream.play(greeting);
  if (kind === 'machine') {
    await stream.play(silence(500));
    assert.deepEqual(told('/voice', sid), [], 'no document is fetched before the beep');
    await stream.play(beep(400));
  }
  const before = heard();
  await looked(() => told('/status', sid).some((form) => form['CallStatus'] === 'completed'));
  stream.stop();
  return { kind, sid, before, after: heard().slice(before.length) };
}

test('each of 20 persons and answering machines hears the words that are meant for it', async (t) => {
  const campaign = await openCampaign(t);
  const { server, client, sipp, told } = campaign;
  const samplesOf = async (text: string) => (await server.rendered(text)).samples;
  const greetings = { human: await samplesOf(SAID.human), machine: await samplesOf(SAID.machine) };
  const words = { human: await server.rendered(WORDS.human), machine: await server.rendered(WORDS.machine) };
  const calls = await Promise.all(
    Array.from({ length: CALLS }, (_, n) => {
      const kind: Kind = n % 3 === 0 ? 'machine' : 'human';
      return callOne(campaign, kind, `${kind}${n}`, greetings[kind]);
    }),
  );
  await sipp.succeeded();
  for (const { kind, sid, before, after } of calls) {
    const [asked, ...more] = told('/voice', sid);
    assert.deepEqual([asked?.['AnsweredBy'], more], [ANSWERED_BY[kind], []]);
    assert.equal((await client.calls(sid).fetch()).answeredBy, ANSWERED_BY[kind]);
    assert.ok(!isLoud(soundOf(before)), `a ${kind} is listened to`);
    const [own, others] = [kind, kind === 'human' ? ('machine' as const) : ('human' as const)].map(
      (name) => likeness(soundOf(after), words[name]).correlation,
    );
    const isOwn =
      own !== undefined && others !== undefined && own > LEAST_ALIKE && own - others > LEAST_AHEAD;
    assert.ok(isOwn, `what a ${kind} heard is alike to ${own}, and to the words for the others to ${others}`);
    assert.deepEqual(
      told('/status', sid).map((form) => [form['CallStatus'], form['SequenceNumber']]),
      ['initiated', 'ringing', 'in-progress', 'completed'].map((status, n) => [status, `${n}`]),
    );
  }
});

// Bad input of programs in whole calls: hostile header fields of a caller, words with markup, and callbacks
// that fail.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import twilio from 'twilio';
import { callSid } from '../../src/api/twiml/sids.js';
import { formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { TranscriptionServerUnderTest } from '../engines/transcription-server.js';
import { until } from '../fakes/until.js';
import { Transcripts } from '../interop/telephone/agent-call.js';
import { freePorts } from '../fakes/free-port.js';
import { kept } from '../interop/telephone/kept.js';
import { likeness } from '../interop/telephone/sound-shape.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { heardBy } from './heard-calls.js';
import { callTo, Desk } from './joined-callers.js';
import { eventsOfCall, storyOf } from './program-calls.js';
import { callFrom, hangUp, okTo, refusalOf, statusOf, TcpCaller, UdpCaller } from './raw-caller.js';

const TOKEN = 'the-token-of-this-server';
const ACCOUNT = `AC${'1'.repeat(32)}`;
const LONG = '<Response><Pause length="60"/></Response>';
const ANSWERED = '<Response><Say>One moment.</Say><Pause length="60"/></Response>';
const SHORT = '<Response><Say>The call goes on.</Say></Response>';
const MARKED = 'Please say <b>"you & me"</b> for us.';

/** A server whose calls this application conducts. */
async function openVoice(
  t: TestContext,
  document: (form: ReturnType<typeof formIn>) => string,
  environment: Readonly<Record<string, string>> = {},
) {
  const application = await openApplication(t, (response, { body }) =>
    response.writeHead(200, TWIML).end(document(formIn(body))),
  );
  const voice = { TWIML_URL: `${application.origin}/voice`, TWIML_AUTH_TOKEN: TOKEN, ...environment };
  const server = await kept(t, TelephoneServer.start(voice));
  /** Checks the signature. */
  const formOf = (index: number) => {
    const { path, headers, body } = application.asked[index] ?? assert.fail('nothing was asked');
    const form = formIn(body);
    const signature = String(headers['x-twilio-signature']);
    assert.ok(twilio.validateRequest(TOKEN, signature, application.origin + path, form), `of ${path}`);
    return form;
  };
  return { server, asked: application.asked, formOf };
}

const sipHeadersOf = (form: ReturnType<typeof formIn>) =>
  Object.entries(form).filter(([name]) => name.startsWith('SipHeader_'));

test('hostile header fields of a caller: few and harmless ones reach the application, signed', async (t) => {
  const { server, asked, formOf } = await openVoice(t, () => ANSWERED);
  const caller = await kept(t, UdpCaller.open(server.address));
  const dialog = await callFrom(caller, {
    headers: [
      'X-Tenant: a=1&AccountSid=AC0 <b>"é"</b>',
      'X-Bell: ring\u0007ring',
      'X-Escape: \u001b[31mred',
      `X-Long: ${'v'.repeat(5000)}`,
      `X-${'n'.repeat(300)}: a`,
      'X-Tenant: twice',
      ...Array.from({ length: 150 }, (_, n) => `X-Field-${n}: ${n}`),
    ],
  });
  const form = formOf(0);
  const given = Object.fromEntries(sipHeadersOf(form));
  assert.equal(given['SipHeader_X-Tenant'], 'a=1&AccountSid=AC0 <b>"é"</b>, twice');
  assert.match(String(form['AccountSid']), /^AC[0-9a-f]{32}$/);
  assert.match(String(form['CallSid']), /^CA[0-9a-f]{32}$/);
  const { 'SipHeader_X-Tenant': _, ...fields } = given;
  const count = Object.keys(fields).length;
  assert.ok(count > 0 && count < 64, `${count} fields`);
  const expected = Array.from({ length: count }, (_unused, n) => [`SipHeader_X-Field-${n}`, `${n}`]);
  assert.deepEqual(Object.entries(fields), expected);
  assert.equal(asked.length, 1);
  await hangUp(caller, dialog);
});

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'a thousand header fields': Array.from({ length: 1000 }, (_, n) => `X-${n}: ${n}`),
  'a header field whose name is no token': ['X-Tenant&CallSid=CA0: a'],
};

for (const [what, headers] of Object.entries(REFUSED)) {
  test(`a call with ${what} is refused, and the application does not learn of it`, async (t) => {
    const { server, asked } = await openVoice(t, () => ANSWERED);
    const caller = await kept(t, TcpCaller.open(server.address));
    assert.equal(statusOf(await refusalOf(caller, { headers })), 400);
    assert.equal(asked.length, 0);
    await hangUp(caller, await callFrom(caller)); // the next call is served
    assert.equal(asked.length, 1);
  });
}

test('words with markup reach the application as data, and are spoken as text when it says them', async (t) => {
  const recogniser = await TranscriptionServerUnderTest.open(t);
  const transcripts = new Transcripts(recogniser, t);
  transcripts.next = MARKED;
  const document = ({ SpeechResult: words }: ReturnType<typeof formIn>) => {
    const response = new twilio.twiml.VoiceResponse();
    if (words !== undefined) response.say(String(words));
    else response.gather({ input: ['speech'], speechTimeout: 'auto', timeout: 60 });
    return response.toString();
  };
  const recognised = { ASR_BASE_URL: recogniser.baseUrl, ASR_MODEL: 'whisper-1' };
  const { server, asked, formOf } = await openVoice(t, document, recognised);
  const { samples } = await server.rendered('I have a question about my last bill.', { voice: 'rms' });
  const caller = await callTo(server, t);
  await caller.stream.play(samples);
  await until(() => asked.length === 2);
  const heardBefore = caller.rtp.heard.length;
  assert.equal(formOf(1)['SpeechResult'], MARKED);
  const bye = () => caller.signalling.heard.find((message) => message.startsWith('BYE '));
  await until(() => bye() !== undefined);
  caller.signalling.send(okTo(bye() ?? ''));
  const story = storyOf(await eventsOfCall(server.server));
  assert.deepEqual(story, ['gather', 'say', `“${MARKED}”`, 'ended']);
  const { correlation } = likeness(
    { samples: heardBy(caller, heardBefore), rate: 8000 },
    await server.rendered(MARKED),
  );
  assert.ok(correlation > 0.9, `it sounds like the text to ${correlation}`);
});

const FAULTS: Readonly<Record<string, readonly [string, (origin: string, closed: number) => string]>> = {
  'answers with status 500': ['11200', (origin) => `${origin}/broken`],
  'does not answer in time': ['11205', (origin) => `${origin}/hangs#rt=300&rc=0`],
  'refuses the connection': ['11205', (_, closed) => `http://127.0.0.1:${closed}/`],
};

for (const [fault, [code, url]] of Object.entries(FAULTS)) {
  test(`the application of status callbacks ${fault}: a warning ${code}, and the call goes on`, async (t) => {
    const application = await openApplication(t, (response, { path }) => {
      if (path === '/broken') response.writeHead(500).end();
    });
    const server = await kept(t, TelephoneServer.start({ TWIML_AUTH_TOKEN: TOKEN }));
    const client = twilio(ACCOUNT, TOKEN);
    client.api.baseUrl = server.server.url;
    const desk = await Desk.open(server, t);
    const { sid } = await client.calls.create({
      to: desk.uri,
      from: 'sip:shop@127.0.0.1',
      twiml: LONG,
      statusCallback: url(application.origin, await freePorts()),
      statusCallbackEvent: ['answered'],
    });
    const { id } = server.telephone.list().find((call) => callSid(call.id) === sid) ?? assert.fail();
    const codes: unknown[] = [];
    server.telephone.follow(id, 0, (event) => {
      if (event.type === 'speech' && event.event.type === 'program.warning') codes.push(event.event.code);
    });
    await desk.picksUp();
    await until(() => codes.length > 0);
    assert.deepEqual(codes, [code]);
    assert.equal((await client.calls(sid).fetch()).status, 'in-progress');
    await client.calls(sid).update({ twiml: SHORT });
    await desk.answers('BYE', 200);
    const story = storyOf(await eventsOfCall(server.server));
    assert.deepEqual(story.slice(-3), ['say', '“The call goes on.”', 'ended']);
  });
}

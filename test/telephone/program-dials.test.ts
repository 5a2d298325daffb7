// Documents that dial, in whole calls: the caller and those who are called are far ends over SIP and RTP on
// loopback, as is the application that writes the documents.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { recordingSid } from '../../src/api/twiml/sids.js';
import { readWav } from '../../src/codecs/wav.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { type Asked, formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { heardBy, waveLikeness } from './heard-calls.js';
import { callTo, Desk } from './joined-callers.js';
import { hangUp } from './raw-caller.js';

const SCREEN = `<Response>
  <Gather numDigits="1" timeout="20" action="/accept"><Say>A call from sales. Press one.</Say></Gather>
  <Hangup/>
</Response>`;
const EMPTY = '<Response/>';
const WAIT = '<Response><Pause length="20"/></Response>';
const DIALLED = { SIP_DIRECT_CALLS: '1', SIP_DESTINATIONS: '@127.0.0.1' };

interface DialsUnderTest {
  readonly server: TelephoneServer;
  readonly asked: readonly Asked[];
  /** The document of incoming calls. */
  document: string;
}

async function openDials(
  t: TestContext,
  environment: Readonly<Record<string, string>>,
): Promise<DialsUnderTest> {
  const documents: Record<string, string> = { '/screen': SCREEN, '/accept': EMPTY, '/done': WAIT };
  const application = await openApplication(t, (response, { path }) =>
    response.writeHead(200, TWIML).end(documents[path] ?? EMPTY),
  );
  const voice = { TWIML_URL: `${application.origin}/voice`, ...environment };
  const server = await kept(t, TelephoneServer.start(voice));
  return {
    server,
    asked: application.asked,
    set document(text: string) {
      documents['/voice'] = text;
    },
  };
}

/** The form of the first request for this path, once it has come. */
async function formOf({ asked }: DialsUnderTest, path: string) {
  await until(() => asked.some((one) => one.path === path));
  return formIn(asked.find((one) => one.path === path)?.body ?? '');
}

test('two are called at once: voicemail answers first, and the person who presses one is joined', async (t) => {
  const folder = temporaryFolder(t);
  const dials = await openDials(t, { ...DIALLED, RECORDINGS_DIR: folder });
  const { server } = dials;
  const speech = (await server.rendered('Good morning, this is the first floor.')).samples;
  const [voicemail, person] = [await Desk.open(server, t), await Desk.open(server, t)];
  const noun = ({ uri }: Desk) => `<Sip url="/screen">${uri}</Sip>`;
  dials.document = `<Response><Dial action="/done" record="record-from-answer-dual">${noun(voicemail)}${noun(person)}</Dial></Response>`;
  const caller = await callTo(server, t);
  await voicemail.picksUp();
  const speaks = await person.picksUp();
  const screened = await formOf(dials, '/screen');
  assert.equal(screened['Direction'], 'outbound-dial');
  assert.equal(screened['ParentCallSid'], formIn(dials.asked[0]?.body ?? '')['CallSid']);
  assert.notEqual(screened['CallSid'], screened['ParentCallSid']);
  await speaks.press('1');
  await voicemail.asked('BYE');
  await voicemail.answers('BYE', 200);
  const pressed = await formOf(dials, '/accept');
  assert.equal(pressed['Digits'], '1');
  const [atPerson, atCaller] = [person.rtp.heard.length, caller.rtp.heard.length];
  await Promise.all([caller.stream.play(speech), speaks.play(speech)]);
  const frames = Math.ceil(speech.length / 160) + 20;
  await until(() => person.rtp.heard.length >= atPerson + frames);
  await until(() => caller.rtp.heard.length >= atCaller + frames);
  const likenesses = [heardBy(person, atPerson), heardBy(caller, atCaller)].map((one) =>
    waveLikeness(speech, one),
  );
  await hangUp(caller.signalling, caller.dialog);
  await person.answers('BYE', 200);
  assert.ok(Math.min(...likenesses) > 0.9, likenesses.join(' '));
  const done = await formOf(dials, '/done');
  assert.deepEqual([done['DialCallStatus'], done['DialBridged']], ['completed', 'true']);
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.wav'));
  assert.ok(
    String(done['RecordingUrl']).endsWith(`/Recordings/${recordingSid(name)}`),
    String(done['RecordingUrl']),
  );
  const recorded = readWav(readFileSync(join(folder, name)));
  assert.equal(recorded.channels, 2);
  for (const channel of [0, 1]) {
    const samples = new Float32Array(recorded.frames);
    recorded.read(channel, 0, samples);
    assert.ok(Math.max(...samples.map(Math.abs)) > 0.1, `channel ${channel} has the voice of its side`);
  }
});

test('the one who is called is busy: the action gets the status, and the caller goes on', async (t) => {
  const dials = await openDials(t, DIALLED);
  const { server } = dials;
  const desk = await Desk.open(server, t);
  dials.document = `<Response><Dial action="/done"><Sip>${desk.uri}</Sip></Dial></Response>`;
  const caller = await callTo(server, t);
  await desk.answers('INVITE', 486);
  const form = await formOf(dials, '/done');
  assert.deepEqual([form['DialCallStatus'], form['DialBridged']], ['busy', 'false']);
  assert.equal(form['DialSipResponseCode'], '486');
  assert.match(String(form['DialCallSid']), /^CA[0-9a-f]{32}$/);
  await hangUp(caller.signalling, caller.dialog);
});

test('a document dials nobody where SIP_DESTINATIONS is not set, and beyond the calls of a minute', async (t) => {
  const open = await openDials(t, { SIP_DIRECT_CALLS: '1' });
  const desk = await Desk.open(open.server, t);
  open.document = `<Response><Dial action="/done"><Sip>${desk.uri}</Sip></Dial></Response>`;
  const caller = await callTo(open.server, t);
  assert.equal((await formOf(open, '/done'))['DialCallStatus'], 'failed');
  assert.equal(
    open.server.telephone.list().some(({ direction }) => direction === 'outbound'),
    false,
  );
  await hangUp(caller.signalling, caller.dialog);
  const limited = await openDials(t, { ...DIALLED, SIP_CALLS_PER_MINUTE: '1' });
  const [first, second] = [await Desk.open(limited.server, t), await Desk.open(limited.server, t)];
  const nouns = [first, second].map(({ uri }) => `<Sip>${uri}</Sip>`).join('');
  limited.document = `<Response><Dial action="/done" sequential="true">${nouns}</Dial></Response>`;
  const other = await callTo(limited.server, t);
  await first.answers('INVITE', 486);
  assert.equal((await formOf(limited, '/done'))['DialCallStatus'], 'busy');
  const placed = limited.server.telephone.list().filter(({ direction }) => direction === 'outbound');
  assert.deepEqual(
    placed.map(({ to }) => to),
    [first.uri],
  );
  await hangUp(other.signalling, other.dialog);
});

// The TwiML door of a call, against an application on loopback: documents follow one another, failures lead
// to the fallback, callbacks keep their order, and sounds are decoded.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import twilio from 'twilio';
import { DocumentFetcher } from '../../../src/api/twiml/document-fetch.js';
import { DocumentSounds } from '../../../src/api/twiml/document-sounds.js';
import { shownUrl } from '../../../src/api/twiml/document-url.js';
import { callSid } from '../../../src/api/twiml/sids.js';
import { openTwimlDoor, type TwimlSource } from '../../../src/api/twiml/twiml-door.js';
import { readConfig } from '../../../src/config/config.js';
import { ParleyError } from '../../../src/errors.js';
import { ProgramError, type Warning } from '../../../src/ivr/door.js';
import type { Target } from '../../../src/ivr/verbs.js';
import { type Asked, formIn, openApplication, TWIML } from './loopback-application.js';

const TOKEN = 'token-of-the-server';
const NONE = new AbortController().signal;
const SOUND = Buffer.from('a sound');

type Answer = (response: ServerResponse, asked: Asked) => void;

/** A door to an application, and what it warned of and decoded. */
async function doorTo(
  t: TestContext,
  answer: Answer,
  source: (origin: string) => Partial<TwimlSource> = () => ({}),
) {
  const application = await openApplication(t, answer);
  const { origin } = application;
  const fetcher = new DocumentFetcher({ config: readConfig({}).ivr, mostSoundBytes: 100_000 });
  t.after(() => fetcher.close());
  const decoded: Uint8Array[] = [];
  const read = async (bytes: string | Uint8Array) => {
    if (Buffer.from(bytes).equals(Buffer.from('noise')))
      throw new ParleyError('AUDIO_INVALID', 'the audio is of no known kind');
    decoded.push(Buffer.from(bytes));
    return { samples: new Float32Array([bytes.length]), sampleRate: 24_000 };
  };
  const warnings: Warning[] = [];
  const about = { id: 'call-1', protocol: 'webrtc', direction: 'inbound', owner: 'acme' } as const;
  const parts = {
    fetcher,
    sounds: new DocumentSounds({ read }),
    accountOf: (owner: string | undefined) => ({ sid: `AC of ${owner}`, authToken: TOKEN }),
    baseUrl: () => 'http://parley.example',
  };
  const call = { about, isAnswered: true, warn: (warning: Warning) => void warnings.push(warning) };
  const opened = openTwimlDoor({ url: `${origin}/voice`, method: 'POST', ...source(origin) }, parts);
  const door = opened(call);
  t.after(() => door.close());
  return { ...application, door, decoded, warnings };
}

test('a URL that is shown has none of the secrets in its query', () => {
  const url = 'https://bot.example.com/voice?tenant=a%20b&token=abc&api_key=def&sig=ghi&passwordHash=jkl';
  const shown = 'https://bot.example.com/voice?tenant=a+b&token=*&api_key=*&sig=*&passwordHash=*';
  assert.equal(shownUrl(url), shown);
  const open = 'https://bot.example.com/voice?tenant=a%20b&keys=4';
  assert.equal(shownUrl(open), open);
});

test('a URL that is shown has nothing of what the caller has pressed or said', () => {
  const url = 'http://user:word@127.0.0.1/pin?tenant=7&Digits=4711&SpeechResult=four#rc=1';
  assert.equal(shownUrl(url), 'http://127.0.0.1/pin?tenant=7&Digits=*&SpeechResult=*');
});

const answering =
  (documents: Readonly<Record<string, string>>): Answer =>
  (response, { path }) => {
    const [name = ''] = path.split('?');
    const document = documents[name];
    if (document === undefined) return response.writeHead(500).end();
    return response.writeHead(200, TWIML).end(document);
  };

async function failureOf(work: Promise<unknown>): Promise<Warning> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ProgramError, String(error));
    return error.warning;
  }
  return assert.fail('it has not failed');
}

/** Lets requests on loopback go on until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

test('the first document is asked for with the parameters of the call, signed with the account', async (t) => {
  const { door, origin, asked } = await doorTo(
    t,
    answering({ '/voice': '<Response><Say>Hi</Say></Response>' }),
  );
  const { verbs, warnings } = await door.begin(NONE);
  assert.deepEqual([verbs.map(({ verb }) => verb), warnings], [['say'], []]);
  const form = formIn(asked[0]?.body ?? '');
  assert.deepEqual(
    [form['CallSid'], form['AccountSid'], form['CallStatus']],
    [callSid('call-1'), 'AC of acme', 'in-progress'],
  );
  const signature = String(asked[0]?.headers['x-twilio-signature']);
  assert.ok(twilio.validateRequest(TOKEN, signature, `${origin}/voice`, form));
});

test('the keys of a Gather go to its action, whose relative URLs are those of the new document', async (t) => {
  const { door, origin, asked } = await doorTo(
    t,
    answering({
      '/voice': '<Response><Gather action="menu/choose"/></Response>',
      '/menu/choose': '<Response><Redirect>sales</Redirect></Response>',
    }),
  );
  const { verbs } = await door.begin(NONE);
  const action = verbs[0]?.verb === 'gather' ? (verbs[0].action as Target) : assert.fail();
  const next = await door.follow(
    action,
    { of: 'gather', by: 'keys', digits: '1', finishKey: undefined },
    NONE,
  );
  assert.deepEqual(next.verbs, [{ verb: 'redirect', to: { at: `${origin}/menu/sales`, method: 'POST' } }]);
  assert.equal(formIn(asked[1]?.body ?? '')['Digits'], '1');
});

test('a session cookie of the first document comes with the next request', async (t) => {
  const { door, origin, asked } = await doorTo(t, (response) =>
    response.writeHead(200, { ...TWIML, 'set-cookie': 'session=7; Path=/' }).end('<Response/>'),
  );
  await door.begin(NONE);
  await door.follow({ at: `${origin}/next` }, { of: 'redirect' }, NONE);
  assert.deepEqual(
    asked.map(({ headers }) => headers.cookie),
    [undefined, 'session=7'],
  );
});

test('the door of a leg shares cookies, is about its own call, and has no fallback', async (t) => {
  const answer: Answer = (response, { path }) =>
    path === '/voice'
      ? response.writeHead(200, { ...TWIML, 'set-cookie': 'session=7; Path=/' }).end('<Response/>')
      : response.writeHead(500).end();
  const { door, origin, asked } = await doorTo(t, answer, (at) => ({
    fallback: { at: `${at}/fallback`, method: 'POST' },
  }));
  await door.begin(NONE);
  const about = {
    id: 'call-2',
    protocol: 'sip',
    direction: 'outbound',
    owner: 'acme',
    parent: 'call-1',
  } as const;
  const leg = door.ofLeg({ about, isAnswered: true, warn: () => assert.fail('no warning') });
  const failure = await failureOf(leg.follow({ at: `${origin}/whisper` }, { of: 'redirect' }, NONE));
  assert.equal(failure.code, '11200');
  assert.deepEqual(
    asked.map(({ path, headers }) => [path, headers.cookie]),
    [
      ['/voice', undefined],
      ['/whisper', 'session=7'],
    ],
  );
  const form = formIn(asked[1]?.body ?? '');
  assert.deepEqual([form['CallSid'], form['ParentCallSid']], [callSid('call-2'), callSid('call-1')]);
  leg.close();
  await door.follow({ at: `${origin}/voice` }, { of: 'redirect' }, NONE);
});

test('a notice about the state of a call takes the place of the status of the call', async (t) => {
  const { door, origin, asked } = await doorTo(t, (response) => response.writeHead(204).end());
  door.tell(
    { at: `${origin}/states` },
    { of: 'dialled', state: 'completed', number: 3, at: 0, status: 'busy', durationMs: 0 },
  );
  await until(() => asked.length === 1);
  assert.equal(formIn(asked[0]?.body ?? '')['CallStatus'], 'busy');
});

test('a document that cannot be had leads to the fallback, which gets the number and URL', async (t) => {
  const documents = answering({ '/fallback': '<Response><Hangup/></Response>' });
  const { door, origin, asked, warnings } = await doorTo(t, documents, (at) => ({
    fallback: { at: `${at}/fallback`, method: 'POST' },
  }));
  const { verbs } = await door.begin(NONE);
  assert.deepEqual(verbs, [{ verb: 'hangup' }]);
  const { ErrorCode, ErrorUrl, CallSid } = formIn(asked[1]?.body ?? '');
  assert.deepEqual([ErrorCode, ErrorUrl, CallSid], ['11200', `${origin}/voice`, callSid('call-1')]);
  assert.deepEqual(
    warnings.map(({ code, document }) => [code, document]),
    [['11200', `${origin}/voice`]],
  );
});

test('without a fallback the failure is the error of the program, and a failing fallback too', async (t) => {
  const broken = answering({ '/voice': '<Response><Say>a & b</Say></Response>' });
  const { door } = await doorTo(t, broken);
  const { code, line, column } = await failureOf(door.begin(NONE));
  assert.deepEqual([code, line, column], ['12100', 1, 18]);
  const other = await doorTo(t, broken, (at) => ({ fallback: { at: `${at}/fallback` } }));
  assert.equal((await failureOf(other.door.begin(NONE))).code, '11200');
  assert.deepEqual(
    other.warnings.map((warning) => warning.code),
    ['12100'],
  );
});

for (const [type, body, code] of [
  [undefined, '<Response/>', '12300'],
  ['application/json', '{}', '12300'],
  ['image/png', '\u0089PNG', '12300'],
  ['text/xml', '\u0000\u0001\u0002', '12100'],
  ['text/html', '<html></html>', '12102'],
  ['text/plain', '<Response><Say></Response>', '12100'],
] as const) {
  test(`an answer of type ${type} with ${JSON.stringify(body)} is error ${code}`, async (t) => {
    const { door } = await doorTo(t, (response) =>
      response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(body),
    );
    assert.equal((await failureOf(door.begin(NONE))).code, code);
  });
}

test('the text of a document begins without a request, and its own URLs must be absolute', async (t) => {
  const text = '<Response><Say>Hello.</Say><Redirect>next</Redirect></Response>';
  const { door, asked } = await doorTo(t, answering({}), () => ({ text }));
  const { verbs } = await door.begin(NONE);
  assert.deepEqual(
    verbs.map(({ verb }) => verb),
    ['say', 'redirect'],
  );
  assert.deepEqual(asked, []);
  const relative = door.follow({ at: 'next' }, { of: 'redirect' }, NONE);
  assert.equal((await failureOf(relative)).code, '11100');
});

test('a text that is no document leads to the fallback, with the number of its error', async (t) => {
  const { door, asked, warnings } = await doorTo(
    t,
    answering({ '/other': '<Response><Hangup/></Response>' }),
    (origin) => ({
      text: '<Response><Say>',
      fallback: { at: `${origin}/other` },
    }),
  );
  const { verbs } = await door.begin(NONE);
  assert.deepEqual(verbs, [{ verb: 'hangup' }]);
  assert.equal(formIn(asked[0]?.body ?? '')['ErrorCode'], '12100');
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['12100'],
  );
});

test('a source may give its first request further parameters, and that one only', async (t) => {
  const menu = '<Response><Redirect>/next</Redirect></Response>';
  const { door, asked, origin } = await doorTo(t, answering({ '/voice': menu, '/next': menu }), () => ({
    parameters: [['AnsweredBy', 'human']],
  }));
  await door.begin(NONE);
  await door.follow({ at: `${origin}/next` }, { of: 'redirect' }, NONE);
  assert.deepEqual(
    asked.map(({ body }) => formIn(body)['AnsweredBy']),
    ['human', undefined],
  );
});

test('a plain text is spoken, or read as TwiML where it is TwiML', async (t) => {
  const { door, origin } = await doorTo(t, (response, { path }) =>
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
      .end(
        path === '/voice'
          ? Buffer.from(' Gr\u00fc\u00df Gott. ', 'latin1')
          : '<Response><Hangup/></Response>',
      ),
  );
  assert.deepEqual((await door.begin(NONE)).verbs, [
    { verb: 'say', text: 'Grüß Gott.', format: 'text', times: 1 },
  ]);
  assert.deepEqual((await door.follow({ at: `${origin}/b` }, { of: 'redirect' }, NONE)).verbs, [
    { verb: 'hangup' },
  ]);
});

test('a document without a charset is read in that of its XML declaration', async (t) => {
  const source =
    '<?xml version="1.0" encoding="ISO-8859-1"?><Response><Say>Gr\u00fc\u00df Gott</Say></Response>';
  const { door } = await doorTo(t, (response) =>
    response.writeHead(200, TWIML).end(Buffer.from(source, 'latin1')),
  );
  const [say] = (await door.begin(NONE)).verbs;
  assert.equal(say?.verb === 'say' && say.text, 'Grüß Gott');
});

test('a sound in place of a document is played, and not asked for again', async (t) => {
  const { door, origin, asked, decoded } = await doorTo(t, (response) =>
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(SOUND),
  );
  const { verbs } = await door.begin(NONE);
  assert.deepEqual(verbs, [{ verb: 'play', sound: `${origin}/voice`, times: 1 }]);
  assert.deepEqual(await door.sound(`${origin}/voice`, NONE), {
    samples: new Float32Array([SOUND.length]),
    sampleRate: 24_000,
  });
  assert.deepEqual([asked.length, decoded.map(String)], [1, [String(SOUND)]]);
});

test('a sound is fetched by GET without parameters, and a kept one is decoded once', async (t) => {
  const { door, origin, asked, decoded } = await doorTo(t, (response) =>
    response.writeHead(200, { 'content-type': 'audio/wav', 'cache-control': 'max-age=60' }).end(SOUND),
  );
  const first = await door.sound(`${origin}/a.wav?v=1`, NONE);
  const second = await door.sound(`${origin}/a.wav?v=1`, NONE);
  assert.equal(first.samples, second.samples);
  assert.deepEqual(
    [asked.length, asked[0]?.method, asked[0]?.path, decoded.length],
    [1, 'GET', '/a.wav?v=1', 1],
  );
});

test('bare µ-law is decoded as a WAV file of it', async (t) => {
  const { door, origin, decoded } = await doorTo(t, (response) =>
    response.writeHead(200, { 'content-type': 'audio/basic' }).end(SOUND),
  );
  await door.sound(`${origin}/a.ulaw`, NONE);
  const [file = Buffer.alloc(0)] = decoded.map((bytes) => Buffer.from(bytes));
  assert.equal(file.toString('latin1', 0, 4), 'RIFF');
  assert.deepEqual([file.readUInt16LE(20), file.readUInt32LE(24), file.subarray(44)], [7, 8000, SOUND]);
});

for (const [type, body] of [
  ['text/html', 'Not found'],
  ['audio/mpeg', 'noise'],
] as const) {
  test(`a sound of type ${type} with ${body} is error 13420`, async (t) => {
    const { door, origin } = await doorTo(t, (response) =>
      response.writeHead(200, { 'content-type': type }).end(body),
    );
    const { code, document } = await failureOf(door.sound(`${origin}/a`, NONE));
    assert.deepEqual([code, document], ['13420', `${origin}/a`]);
  });
}

test('partial words are sent one after another, and their answers are ignored', async (t) => {
  const held: ServerResponse[] = [];
  const { door, origin, asked, warnings } = await doorTo(t, (response) => void held.push(response));
  for (const number of [0, 1])
    door.tell({ at: `${origin}/partial` }, { of: 'partial', text: `word ${number}`, number });
  await until(() => held.length === 1);
  assert.equal(asked.length, 1, 'the second one waits for the first');
  held[0]?.writeHead(500).end();
  await until(() => held.length === 2);
  held[1]?.writeHead(204).end();
  assert.deepEqual(
    asked.map(({ body }) => formIn(body)['UnstableSpeechResult']),
    ['word 0', 'word 1'],
  );
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['11200'],
  );
});

test('callbacks that wait at the end of the call are still sent, in order', async (t) => {
  const { door, origin, asked } = await doorTo(t, (response) => response.writeHead(204).end());
  for (const number of [0, 1, 2])
    door.tell({ at: `${origin}/partial` }, { of: 'partial', text: `word ${number}`, number });
  door.close();
  await until(() => asked.length === 3);
  assert.deepEqual(
    asked.map(({ body }) => formIn(body)['UnstableSpeechResult']),
    ['word 0', 'word 1', 'word 2'],
  );
});

test('beyond a hundred waiting callbacks one is dropped with a warning, and none throws', async (t) => {
  const { door, origin, warnings } = await doorTo(t, () => undefined);
  for (let number = 0; number <= 101; number++)
    door.tell({ at: `${origin}/partial` }, { of: 'partial', text: '', number });
  const message = 'the callback is not sent: too many callbacks of the call wait (partial)';
  assert.deepEqual(warnings, [{ message, document: `${origin}/partial` }]);
});

test('a target without a URL is error 11100, and so is one that is no URL', async (t) => {
  const { door } = await doorTo(t, () => undefined);
  assert.equal((await failureOf(door.follow({ at: '' }, { of: 'redirect' }, NONE))).code, '11100');
  assert.equal((await failureOf(door.follow({ at: '/next' }, { of: 'redirect' }, NONE))).code, '11100');
});

test('a closed door ends what it waits for, and still sends callbacks', async (t) => {
  const { door, origin, asked, warnings } = await doorTo(t, () => undefined);
  const isAborted = (error: unknown) => error instanceof ParleyError && error.code === 'ABORTED';
  const begun = assert.rejects(door.begin(NONE), isAborted);
  await until(() => asked.length === 1);
  door.close();
  door.close();
  await begun;
  door.tell({ at: `${origin}/partial` }, { of: 'partial', text: 'late', number: 0 });
  await assert.rejects(door.sound(`${origin}/a.wav`, NONE), isAborted);
  await until(() => asked.length === 2);
  assert.deepEqual([asked[1]?.path, warnings], ['/partial', []]);
});

// Replays our own documents of `documents`: the verbs and warnings of each, and that no element of TwiML for
// calls is left out. Then what `npm run test:snippets` makes of a folder.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { elementsOf, readTwimlDocument, type TwimlElement } from '../../../src/api/twiml/twiml-document.js';
import type { Verb } from '../../../src/ivr/verbs.js';
import { ROOT } from '../../docs/markdown.js';
import { replayCommand, replayed, USAGE } from './document-replay.js';

const FOLDER = join(ROOT, 'test/api/twiml/documents');

/** The verbs of each document, with what they hold; then number and line of each warning. */
const EXPECTED: Readonly<Record<string, readonly [verbs: string, ...warnings: string[]]>> = {
  'connect-products': [
    '',
    '12200 line 3',
    '12200 line 5',
    '12200 line 10',
    '12200 line 11',
    '12200 line 12',
    '12200 line 13',
    '12200 line 14',
  ],
  'connect-relay': ['connect(relay)'],
  'connect-stream': ['connect(stream)'],
  'dial-all-attributes': ['dial(+15005550006 +15005550007)'],
  'dial-client': ['dial(+15005550006)', '12200 line 5', '12200 line 6'],
  'dial-conference': ['conference(morning round)'],
  'dial-conference-all-attributes': ['conference(lesson)'],
  'dial-conference-recorded-by-dial': ['conference(audit)', '12200 line 5', '12200 line 4'],
  'dial-nobody': ['hangup', '13223 line 3', '13223 line 4'],
  'dial-number-all-attributes': ['dial(+15005550006)'],
  'dial-products': ['say', '12200 line 3', '12200 line 4', '12200 line 6'],
  'dial-queue': ['dequeue(counter)'],
  'dial-sip': ['dial(sip:bench@pbx.example.com;transport=tls sip:till@pbx.example.com)', '12200 line 3'],
  'dial-sip-mistakes': [
    'dial(sip:till@pbx.example.com sip:till@pbx.example.com)',
    '12200 line 4',
    '11100 line 5',
    '12200 line 6',
  ],
  'dial-text': ['dial(+1 500 555 0006) say'],
  enqueue: ['enqueue(counter)'],
  'enqueue-task': ['enqueue(counter)', '12200 line 5'],
  'gather-both': ['gather() redirect'],
  'gather-keys': ['gather(say) say'],
  'gather-mistakes': [
    'gather(say)',
    '12200 line 3',
    '12200 line 3',
    '12200 line 3',
    '12200 line 5',
    '12200 line 6',
    '13310 line 3',
    '12200 line 3',
    '12200 line 3',
  ],
  'gather-speech': ['gather(play pause say)'],
  hangup: ['hangup say'],
  'hangup-parameter': ['hangup', '12200 line 4'],
  leave: ['say leave'],
  pause: ['pause say pause pause', '13910 line 6'],
  pay: ['say', '12200 line 3'],
  'play-digits': ['press', '12200 line 4', '11100 line 5'],
  'play-sounds': ['play play play'],
  'record-all-attributes': ['record'],
  'record-transcript-without-callback': ['record', '12200 line 3'],
  'record-usual': ['say record say'],
  redirect: ['redirect'],
  'redirect-to-itself': ['pause redirect'],
  refer: ['refer(sip:bench@pbx.example.com?X-Order=7)'],
  'refer-without-scheme': ['refer(sip:bench@pbx.example.com)', '12200 line 7', '11100 line 6'],
  reject: ['reject'],
  'reject-busy': ['reject'],
  'reject-mistake': ['reject', '12200 line 3'],
  'say-loop-and-voice': ['say say'],
  'say-plain': ['say'],
  'say-ssml': ['say'],
  'say-unknown-markup': ['say', '12200 line 4', '12200 line 4', '12200 line 6'],
  'say-without-declaration': ['say'],
  sms: ['say', '12200 line 4', '12200 line 5'],
  'start-recording': ['start(recording) start(recording)', '12200 line 8', '12200 line 8', '12200 line 8'],
  'start-siprec': ['', '12200 line 4', '11100 line 7', '12200 line 9'],
  'start-stream': ['start(stream) say'],
  'start-transcription': ['start(transcript) dial(+15005550006)'],
  stop: ['stop(stream) stop(transcript) stop(recording)', '12200 line 6'],
  'unknown-names': ['say', '12200 line 2', '12200 line 3', '12200 line 4', '12200 line 5', '12200 line 6'],
  'whole-menu': ['say gather(say pause play) dial(+15005550006 sip:desk@pbx.example.com) record hangup'],
};

/** The elements of calls with those within them. */
const NESTING: Readonly<Record<string, string>> = {
  Response:
    'Say Play Pause Gather Record Dial Enqueue Leave Redirect Hangup Reject Connect Start Stop Refer Pay Sms',
  Say: 'break emphasis lang p phoneme prosody s say-as sub w',
  Gather: 'Say Play Pause',
  Dial: 'Number Sip Client Queue Conference Sim WhatsApp Application',
  Client: 'Identity Parameter',
  Application: 'ApplicationSid Parameter',
  Enqueue: 'Task',
  Hangup: 'Parameter',
  Reject: 'Parameter',
  Connect: 'Stream ConversationRelay Room VirtualAgent AiSession Conversation Autopilot Assistant',
  ConversationRelay: 'Language Parameter',
  VirtualAgent: 'Parameter Config',
  Stream: 'Parameter',
  Start: 'Stream Recording Transcription Siprec',
  Stop: 'Stream Recording Transcription Siprec',
  Refer: 'Sip',
  Pay: 'Prompt Parameter',
  Prompt: 'Say',
};

const documents = replayed(FOLDER);

/** The name of a verb, and what it holds. */
function shownVerb(verb: Verb): string {
  const { verb: name } = verb;
  if (verb.verb === 'gather') return `${name}(${verb.prompts.map((prompt) => prompt.verb).join(' ')})`;
  if (verb.verb === 'dial') return `${name}(${verb.targets.map(({ to }) => to).join(' ')})`;
  if (verb.verb === 'start' || verb.verb === 'stop')
    return `${name}(${verb.forks.map(({ kind }) => kind).join(' ')})`;
  if (verb.verb === 'connect') return `${name}(${verb.to.kind})`;
  if (verb.verb === 'conference') return `${name}(${verb.room})`;
  if (verb.verb === 'enqueue' || verb.verb === 'dequeue') return `${name}(${verb.queue})`;
  return verb.verb === 'refer' ? `${name}(${verb.to})` : name;
}

for (const { name, verbs, warnings, error } of documents) {
  test(`${name} has the expected verbs and warnings`, () => {
    assert.equal(error, undefined);
    const warned = warnings.map(({ code, line }) => `${code} line ${line}`);
    assert.deepEqual([verbs.map(shownVerb).join(' '), ...warned], EXPECTED[basename(name, '.twiml')]);
  });
}

test('each expected document is there', () => {
  const names = documents.map(({ name }) => basename(name, '.twiml'));
  assert.deepEqual(names.toSorted(), Object.keys(EXPECTED).toSorted());
  assert.equal(readdirSync(FOLDER).length, names.length);
});

test('the documents have every element of calls, in every place that it may have', () => {
  const seen = new Set<string>();
  const look = (element: TwimlElement) => {
    for (const child of elementsOf(element)) {
      seen.add(`${element.name} ${child.name}`);
      // Marks within others count for <Say>.
      if (/^[a-z]/.test(child.name)) seen.add(`Say ${child.name}`);
      look(child);
    }
  };
  for (const { name } of documents)
    look(readTwimlDocument(readFileSync(join(FOLDER, name), 'utf8'), undefined));
  for (const [outer, inner] of Object.entries(NESTING))
    for (const name of inner.split(' ')) assert.ok(seen.has(`${outer} ${name}`), `<${name}> in <${outer}>`);
});

/** A folder with files by path. */
function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-documents-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'menus', 'night'), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

function run(...args: readonly string[]) {
  let [out, err] = ['', ''];
  const status = replayCommand(args, { out: (text) => (out += text), err: (text) => (err += text) });
  return { status, out, err };
}

test('the table has the counts, and each warning and error with its place and number', (t) => {
  const folder = folderOf(t, {
    'hello.twiml': '<Response><Say>Hi</Say></Response>',
    'menus/sms.xml': '<Response>\n  <Sms>Hi</Sms>\n</Response>',
    'menus/night/bare.twiml': '<Response>\n<Play>/a?b=1&c=2</Play></Response>',
    'menus/night/notes.txt': '<Response/>',
  });
  const { status, out, err } = run(folder);
  assert.deepEqual([status, err], [0, '']);
  const [documentRow, parseRow, quietRow, gap, head, ...rows] = out.trimEnd().split('\n');
  assert.deepEqual(
    [documentRow, parseRow, quietRow, gap],
    ['documents          3', 'parse              2', 'without a warning  1', ''],
  );
  assert.deepEqual(head?.split(/ +/), ['document', 'kind', 'line', 'column', 'number', 'message']);
  assert.deepEqual(
    rows.map((row) => row.split(/ +/).slice(0, 5).join(' ')),
    ['menus/night/bare.twiml error 2 13 12100', 'menus/sms.xml warning 2 3 12200'],
  );
});

test('a well-formed document that does not parse is a failure', (t) => {
  const { status, out } = run(folderOf(t, { 'root.twiml': '<response/>' }));
  assert.equal(status, 1);
  assert.match(out, /^root\.twiml +error +1 +1 +12102 /m);
});

test('a folder that is missing or has no document is told of, and a command without one has its usage', (t) => {
  const empty = folderOf(t, { 'notes.txt': '<Response/>' });
  assert.deepEqual(run(empty), {
    status: 2,
    out: '',
    err: `${empty} has no document: the name of one ends with .twiml or .xml\n`,
  });
  const missing = run(join(empty, 'nothing'));
  assert.equal(missing.status, 2);
  assert.match(missing.err, /^DIR cannot be read: ENOENT/);
  assert.deepEqual(run(), { status: 2, out: '', err: USAGE });
  assert.deepEqual(run(empty, empty), { status: 2, out: '', err: USAGE });
});

// The form of call programs in IVR_FILE: what each verb may be, and what is wrong with one that is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_PROGRAM } from '../../src/config/ivr-config.js';
import { EXAMPLE_PROGRAMS } from '../../src/ivr/example-program.js';
import { readPrograms } from '../../src/ivr/program-reader.js';
import type { Gather, Verb } from '../../src/ivr/verbs.js';

/** The verbs of the program `main`, in a file that also has the program `other`. */
function verbsOf(...main: unknown[]): readonly Verb[] {
  const { programs, problems } = readPrograms(fileOf(main));
  assert.equal(problems, undefined);
  return programs?.get('main') ?? [];
}

function problemsOf(...main: unknown[]): readonly string[] {
  return readPrograms(fileOf(main)).problems ?? [];
}

function fileOf(main: unknown): string {
  return JSON.stringify({ programs: { main, other: [{ hangup: {} }] } });
}

function gathered(fields: object): Gather {
  const [verb] = verbsOf({ gather: fields });
  assert.equal(verb?.verb, 'gather');
  return verb;
}

const mistakesOf = (fields: object) =>
  problemsOf({ gather: fields }).map((problem) => problem.replace('programs.main[0].gather', 'gather'));

test('a verb has a short form where it has one obvious field, and its usual values', () => {
  const say = { verb: 'say', format: 'text', voice: undefined, language: undefined, times: 1 };
  assert.deepEqual(
    verbsOf(
      { say: 'Welcome.\nHow are you?' },
      { play: 'tune.wav' },
      { pause: 1.5 },
      { press: '12a,#' },
      { redirect: 'other' },
      { reject: 'busy' },
      { hangup: {} },
    ),
    [
      { ...say, text: 'Welcome.\nHow are you?' },
      { verb: 'play', sound: 'tune.wav', times: 1 },
      { verb: 'pause', ms: 1500 },
      { verb: 'press', digits: '12A,#' },
      { verb: 'redirect', to: { at: 'other' } },
      { verb: 'reject', reason: 'busy' },
      { verb: 'hangup' },
    ],
  );
});

test('the long form has every field of a verb', () => {
  assert.deepEqual(
    verbsOf(
      { say: { text: '<speak>Hi</speak>', format: 'ssml', voice: 'slt', language: 'english', times: 3 } },
      { play: { sound: 'tune.wav', times: 1000 } },
      { pause: { seconds: 2 } },
      { press: { digits: '1' } },
      { redirect: { to: 'main' } },
      { reject: {} },
    ),
    [
      {
        verb: 'say',
        text: '<speak>Hi</speak>',
        format: 'ssml',
        voice: 'slt',
        language: 'en',
        times: 3,
      },
      { verb: 'play', sound: 'tune.wav', times: 1000 },
      { verb: 'pause', ms: 2000 },
      { verb: 'press', digits: '1' },
      { verb: 'redirect', to: { at: 'main' } },
      { verb: 'reject', reason: 'rejected' },
    ],
  );
});

test('a gather without fields takes keys for five seconds, and # ends them', () => {
  assert.deepEqual(gathered({}), {
    verb: 'gather',
    inputs: ['keys'],
    prompts: [],
    isInterruptible: true,
    firstMs: 5000,
    betweenMs: 5000,
    finishKeys: '#',
    mostKeys: undefined,
    speechEndMs: undefined,
    mostSpeechMs: 60_000,
    language: undefined,
    hints: [],
    action: undefined,
    tellsEmpty: false,
    choices: undefined,
  });
});

test('a gather may be sensitive', () => {
  const { isSensitive } = gathered({ sensitive: true }) as { readonly isSensitive?: boolean };
  assert.equal(isSensitive, true);
});

test('a gather has prompts, times, hints, choices by keys and words, and another program for the rest', () => {
  const gather = gathered({
    input: ['keys', 'speech'],
    prompts: [{ say: 'Press 1 or say billing.' }, { pause: 1 }, { play: 'tune.wav' }],
    keys: 1,
    finish: '',
    timeout: 3,
    keyTimeout: 2.5,
    speechTimeout: 0.8,
    maxSpeech: 20,
    language: 'en-US',
    hints: ['billing'],
    interruptible: false,
    choices: { '1': 'other', '*': 'main', billing: 'other', 'a person': 'main' },
    otherwise: 'main',
  });
  const { prompts, choices, ...settings } = gather;
  assert.deepEqual(
    prompts.map(({ verb }) => verb),
    ['say', 'pause', 'play'],
  );
  assert.deepEqual(
    [...(choices ?? [])].map(([choice, { at }]) => [choice, at]),
    [
      ['1', 'other'],
      ['*', 'main'],
      ['billing', 'other'],
      ['a person', 'main'],
    ],
  );
  assert.deepEqual(settings, {
    verb: 'gather',
    inputs: ['keys', 'speech'],
    isInterruptible: false,
    firstMs: 3000,
    betweenMs: 2500,
    finishKeys: '',
    mostKeys: 1,
    speechEndMs: 800,
    mostSpeechMs: 20_000,
    language: 'en-US',
    hints: ['billing'],
    action: { at: 'main' },
    tellsEmpty: false,
  });
});

test('the longest choice of keys ends the input, unless the number of keys is stated', () => {
  const choices = { '1': 'other', '22': 'other', abc: 'main' };
  const input = ['keys', 'speech'];
  assert.equal(gathered({ input, choices }).mostKeys, 2);
  assert.equal(gathered({ input, choices, keys: 16 }).mostKeys, 16);
  assert.equal(gathered({ input, choices: { billing: 'other' } }).mostKeys, undefined);
});

test('a choice that no caller can make is a mistake', () => {
  assert.deepEqual(mistakesOf({ choices: { billing: 'other' } }), [
    'gather.choices: "billing" needs "speech" in "input"',
  ]);
  assert.deepEqual(mistakesOf({ input: ['speech'], choices: { '1': 'other', '*': 'other' } }), [
    'gather.choices: "*" needs "keys" in "input"',
  ]);
  assert.deepEqual(mistakesOf({ choices: { '1#': 'other' } }), [
    'gather.choices: "1#" has the key #, which ends the input: "finish" is "#"',
  ]);
  assert.deepEqual(mistakesOf({ keys: 1, choices: { '12': 'other' } }), [
    'gather.choices: "12" is longer than the input, whose "keys" are 1',
  ]);
  assert.deepEqual(mistakesOf({ input: ['speech'], choices: { '?!': 'other', ' ': 'other' } }), [
    'gather.choices: "?!" must be keys, or words of 1 to 100 characters',
    'gather.choices: " " must be keys, or words of 1 to 100 characters',
  ]);
  assert.deepEqual(mistakesOf({ finish: '', choices: { '#': 'other' } }), []);
});

test('a field that would have no effect is a mistake', () => {
  assert.deepEqual(mistakesOf({ hints: ['billing'], language: 'en', speechTimeout: 1, maxSpeech: 9 }), [
    'gather.speechTimeout has no effect: "input" has no "speech"',
    'gather.maxSpeech has no effect: "input" has no "speech"',
    'gather.language has no effect: "input" has no "speech"',
    'gather.hints has no effect: "input" has no "speech"',
  ]);
  assert.deepEqual(mistakesOf({ input: ['speech'], keys: 1, finish: '#', keyTimeout: 2 }), [
    'gather.keys has no effect: "input" has no "keys"',
    'gather.finish has no effect: "input" has no "keys"',
    'gather.keyTimeout has no effect: "input" has no "keys"',
  ]);
});

const WRONG: readonly (readonly [unknown, string])[] = [
  [
    'say',
    ' must be an object with exactly one of say, play, press, pause, gather, record, connect, start, stop, refer, redirect, conference, enqueue, dequeue, hangup, dial, leave, reject',
  ],
  [
    {},
    ' must be an object with exactly one of say, play, press, pause, gather, record, connect, start, stop, refer, redirect, conference, enqueue, dequeue, hangup, dial, leave, reject',
  ],
  [
    { say: 'a', play: 'b' },
    ' must be an object with exactly one of say, play, press, pause, gather, record, connect, start, stop, refer, redirect, conference, enqueue, dequeue, hangup, dial, leave, reject',
  ],
  [{ say: '  ' }, '.say.text must be a text of 1 to 5000 characters'],
  [{ say: 'a'.repeat(5001) }, '.say.text must be a text of 1 to 5000 characters'],
  [{ say: { text: 'a', speed: 2 } }, '.say: "speed" is none of text, format, voice, language, times'],
  [{ say: { text: 'a', language: 'klingon!' } }, '.say.language must be a language tag such as en-US'],
  [{ say: { text: 'a', times: 0 } }, '.say.times must be a whole number from 1 to 1000'],
  [{ play: '../secret.wav' }, '.play.sound must be the name of a file of SOUNDS_DIR, without a path'],
  [{ play: 'a..b.wav' }, '.play.sound must be the name of a file of SOUNDS_DIR, without a path'],
  [{ pause: '1' }, '.pause.seconds must be a number from 0.1 to 600'],
  [{ pause: {} }, '.pause.seconds is missing'],
  [{ pause: 601 }, '.pause.seconds must be a number from 0.1 to 600'],
  [{ press: 12 }, '.press.digits must be a text of 1 to 64 of 0-9, *, #, A-D and ","'],
  [
    { redirect: 'elsewhere' },
    '.redirect.to must be the name of a program of the file, and "elsewhere" is none',
  ],
  [
    { redirect: '__proto__' },
    '.redirect.to must be the name of a program of the file, and "__proto__" is none',
  ],
  [{ redirect: {} }, '.redirect.to is missing'],
  [{ hangup: true }, '.hangup must be an object'],
  [{ hangup: { when: 'now' } }, '.hangup: "when" is not allowed: it has no fields'],
  [{ reject: 'tired' }, '.reject.reason must be one of rejected, busy'],
  [{ gather: [] }, '.gather must be an object'],
  [{ gather: { input: 'keys' } }, '.gather.input must be a list of "keys", "speech" or both'],
  [{ gather: { input: ['keys', 'keys'] } }, '.gather.input must be a list of "keys", "speech" or both'],
  [{ gather: { input: [] } }, '.gather.input must be a list of "keys", "speech" or both'],
  [{ gather: { keys: 65 } }, '.gather.keys must be a whole number from 1 to 64'],
  [{ gather: { finish: 'x' } }, '.gather.finish must be a text of keys, 0-9, *, # and A-D, or "" for none'],
  [{ gather: { timeout: 0 } }, '.gather.timeout must be a number from 0.5 to 300'],
  [{ gather: { prompts: [] } }, '.gather.prompts must be a list of 1 to 50 verbs'],
  [
    { gather: { prompts: [{ hangup: {} }] } },
    '.gather.prompts[0] must be an object with exactly one of say, play, pause',
  ],
  [{ gather: { choices: {} } }, '.gather.choices must be an object of 1 to 200 programs by keys or words'],
  [
    { gather: { choices: { '1': 'elsewhere' } } },
    '.gather.choices.1 must be the name of a program of the file, and "elsewhere" is none',
  ],
  [{ gather: { otherwise: 7 } }, '.gather.otherwise must be the name of a program of the file'],
];

for (const [verb, problem] of WRONG) {
  test(`a verb is refused with its place: ${JSON.stringify(verb).slice(0, 60)}`, () => {
    assert.deepEqual(problemsOf(verb), [`programs.main[0]${problem}`]);
  });
}

test('all mistakes are told at once, each with its place', () => {
  const file = {
    programs: {
      main: [{ say: '' }, { gather: { timeout: 'soon', prompts: [{ pause: 0 }] } }, { call: '+49' }],
      '': [],
    },
    version: 1,
  };
  assert.deepEqual(readPrograms(JSON.stringify(file)).problems, [
    'the file: "version" is none of programs',
    'programs: "" must be a name of 1 to 100 characters',
    'programs.main[0].say.text must be a text of 1 to 5000 characters',
    'programs.main[1].gather.prompts[0].pause.seconds must be a number from 0.1 to 600',
    'programs.main[1].gather.timeout must be a number from 0.5 to 300',
    'programs.main[2] must be an object with exactly one of say, play, press, pause, gather, record, connect, start, stop, refer, redirect, conference, enqueue, dequeue, hangup, dial, leave, reject',
    'programs. must be a list of 1 to 200 verbs',
  ]);
});

test('what is no file of programs is refused, and so is one with too many', () => {
  const [notJson = ''] = readPrograms('{"programs": {').problems ?? [];
  assert.match(notJson, /^the file is not JSON: /);
  for (const content of ['[]', '{}', '{"programs": []}', 'null'])
    assert.deepEqual(readPrograms(content).problems, [
      'the file must be an object with an object "programs"',
    ]);
  const programs = (number: number) =>
    Object.fromEntries(Array.from({ length: number }, (_, n) => [`p${n}`, [{ hangup: {} }]]));
  assert.equal(readPrograms(JSON.stringify({ programs: programs(1000) })).programs?.size, 1000);
  for (const number of [0, 1001])
    assert.deepEqual(readPrograms(JSON.stringify({ programs: programs(number) })).problems, [
      'programs must have 1 to 1000 programs',
    ]);
  const verbs = Array.from({ length: 201 }, () => ({ hangup: {} }));
  assert.deepEqual(problemsOf(...verbs), ['programs.main must be a list of 1 to 200 verbs']);
  assert.equal(verbsOf(...verbs.slice(1)).length, 200);
});

test('the example is a menu by keys and speech whose programs are all there', () => {
  const main = EXAMPLE_PROGRAMS.get(EXAMPLE_PROGRAM.name) ?? [];
  assert.deepEqual(
    main.map(({ verb }) => verb),
    ['say', 'gather', 'say', 'hangup'],
  );
  const [, gather] = main;
  assert.ok(gather?.verb === 'gather');
  assert.deepEqual(gather.inputs, ['keys', 'speech']);
  assert.deepEqual([...(gather.choices?.keys() ?? [])], ['1', '2', 'billing', 'hours']);
});

test('record has its defaults, and states what is wrong with its fields', () => {
  const usual = { verb: 'record', beeps: true, timeoutMs: 5000, finishKeys: '0123456789*#' };
  const [verb] = verbsOf({ record: {} });
  assert.deepEqual(verb, { ...usual, mostMs: 3_600_000, trims: true, action: undefined });
  assert.deepEqual(
    problemsOf({ record: { beep: 1, timeout: 301, finish: 'x', maxLength: 0, next: 'none' } }),
    [
      'programs.main[0].record.beep must be true or false',
      'programs.main[0].record.timeout must be a number from 0 to 300',
      'programs.main[0].record.finish must be a text of keys, 0-9, *, # and A-D, or "" for none',
      'programs.main[0].record.maxLength must be a number from 1 to 14400',
      'programs.main[0].record.next must be the name of a program of the file, and "none" is none',
    ],
  );
});

test('refer takes the address of a SIP telephone only', () => {
  assert.deepEqual(verbsOf({ refer: 'sip:bob@example.com' }), [
    { verb: 'refer', to: 'sip:bob@example.com', action: undefined },
  ]);
  assert.deepEqual(problemsOf({ refer: { to: 'tel:+4930', next: 'other' } }), [
    'programs.main[0].refer.to must be a SIP URI of at most 255 characters, such as sip:bob@example.com',
  ]);
});

test('rooms and queues have a short form, and their usual values', () => {
  const end = { mostMs: undefined, endKey: undefined, action: undefined };
  const member = {
    isMuted: false,
    chimes: 'both',
    opens: true,
    ends: false,
    label: undefined,
    coach: undefined,
  };
  const room = { wait: 'music', mostMembers: 250, isRecorded: false, events: [] };
  assert.deepEqual(verbsOf({ conference: 'first floor' }, { enqueue: 'sales' }, { dequeue: 'sales' }), [
    { verb: 'conference', room: 'first floor', ...member, ...room, ...end },
    { verb: 'enqueue', queue: 'sales', mostWaiting: 1000, wait: 'music', action: undefined },
    { verb: 'dequeue', queue: 'sales', whisper: undefined, waitMs: 30_000, ...end },
  ]);
});

test('rooms and queues have every field in their long form', () => {
  const member = { muted: true, chimes: 'exit', opens: false, ends: true, label: 'anna', coach: 'bert' };
  const stay = { limit: 60, endKey: '*', next: 'other' };
  assert.deepEqual(
    verbsOf(
      { conference: { room: 'r', wait: 'silence', members: 3, record: true, ...member, ...stay } },
      { enqueue: { queue: 'sales', wait: 'other', waiting: 5, next: 'other' } },
      { dequeue: { queue: 'sales', whisper: 'other', timeout: 5, ...stay } },
    ),
    [
      {
        verb: 'conference',
        room: 'r',
        isMuted: true,
        chimes: 'exit',
        opens: false,
        ends: true,
        label: 'anna',
        coach: 'bert',
        wait: 'silence',
        mostMembers: 3,
        isRecorded: true,
        events: [],
        mostMs: 60_000,
        endKey: '*',
        action: { at: 'other' },
      },
      { verb: 'enqueue', queue: 'sales', mostWaiting: 5, wait: { at: 'other' }, action: { at: 'other' } },
      {
        verb: 'dequeue',
        queue: 'sales',
        whisper: { at: 'other' },
        waitMs: 5000,
        mostMs: 60_000,
        endKey: '*',
        action: { at: 'other' },
      },
    ],
  );
});

test('mistakes in rooms and queues are told with their place', () => {
  const name = 'must be a name of 1 to 64 characters on one line, without "/" and without blanks at its ends';
  assert.deepEqual(
    problemsOf(
      { conference: { room: 'a/b', endKey: '**', chimes: 'loud' } },
      { enqueue: { wait: 'nowhere' } },
      { dequeue: { queue: 'sales', timeout: 0 } },
    ),
    [
      `programs.main[0].conference.room ${name}`,
      'programs.main[0].conference.chimes must be one of both, entry, exit, none',
      'programs.main[0].conference.endKey must be one key: 0-9, *, # or A-D',
      `programs.main[1].enqueue.queue ${name}`,
      'programs.main[1].enqueue.wait must be the name of a program of the file, and "nowhere" is none',
      'programs.main[2].dequeue.timeout must be a number from 1 to 3600',
    ],
  );
});

test('connect names one of those who talk', () => {
  const url = 'wss://bot.example.com/calls';
  assert.deepEqual(verbsOf({ connect: 'anna' }, { connect: { relay: { url }, next: 'other' } }), [
    { verb: 'connect', to: { kind: 'agent', name: 'anna' }, action: undefined },
    { verb: 'connect', to: { kind: 'relay', fields: { url } }, action: { at: 'other' } },
  ]);
  assert.deepEqual(problemsOf({ connect: {} }, { connect: { stream: 'x' } }), [
    'programs.main[0].connect must have exactly one of agent, relay and stream',
    'programs.main[1].connect must have the name of an agent, or an object in "relay" or "stream"',
  ]);
});

test('start and stop name what they are about', () => {
  const stream = { url: 'wss://bot.example.com/media' };
  assert.deepEqual(
    verbsOf({ start: 'recording' }, { start: { what: 'stream', name: 'a', stream } }, { stop: 'stream' }),
    [
      { verb: 'start', forks: [{ kind: 'recording' }] },
      { verb: 'start', forks: [{ kind: 'stream', name: 'a', fields: stream }] },
      { verb: 'stop', forks: [{ kind: 'stream', name: undefined }] },
    ],
  );
  assert.deepEqual(problemsOf({ start: 'stream' }, { stop: {} }), [
    'programs.main[0].start.stream must be an object with the "url" of a bot',
    'programs.main[1].stop.what must be one of recording, stream',
  ]);
});

test('a gather of speech may ask for figures; one of keys cannot', () => {
  const { smartFormat } = gathered({ input: ['speech'], smart_format: true }) as {
    readonly smartFormat?: boolean;
  };
  assert.equal(smartFormat, true);
  assert.deepEqual(mistakesOf({ input: ['speech'], smart_format: 'yes' }), [
    'gather.smart_format must be true or false',
  ]);
  assert.deepEqual(mistakesOf({ smart_format: true }), [
    'gather.smart_format has no effect: "input" has no "speech"',
  ]);
});

// A program and its call: which verbs answer it, what follows what, and how it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Utterance } from '../../src/call/utterance.js';
import { ProgramChain, ProgramCount } from '../../src/ivr/program-chain.js';
import { ParleyError } from '../../src/errors.js';
import { ProgramError, type Warning } from '../../src/ivr/door.js';
import { Prompter } from '../../src/ivr/prompts.js';
import { settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { gather, openProgram, program, type ProgramUnderTest, say, spoken } from './program-under-test.js';

const calls = openCalls();
const APOLOGY = 'We are sorry, an application error has occurred. Goodbye.';

const verbsOf = ({ events }: ProgramUnderTest): string[] =>
  events.flatMap((event) => (event.type === 'program.verb' ? [event.verb] : []));

/** The call has ended. */
const ends = (under: ProgramUnderTest): Promise<void> =>
  under.passUntil(() => under.orders.includes('hang up'));

test('verbs follow one another, each is told, and the end of the program hangs up', async () => {
  const under = await openProgram(calls, [say('One.'), { verb: 'pause', ms: 1000 }, say('Two.')]);
  await ends(under);
  assert.deepEqual(spoken(under), ['One.', 'Two.']);
  assert.deepEqual(verbsOf(under), ['say', 'pause', 'say']);
  await until(() => under.door.isClosed);
});

test('hangup ends the call, and nothing behind it is said', async () => {
  const under = await openProgram(calls, [say('One.'), { verb: 'hangup' }, say('Two.')]);
  await ends(under);
  assert.deepEqual(spoken(under), ['One.']);
});

test('a redirect goes on with the program at its target', async () => {
  const under = await openProgram(calls, [{ verb: 'redirect', to: { at: 'next' } }, say('Never.')], {
    programs: { next: program(say('Here.')) },
  });
  await ends(under);
  assert.deepEqual(spoken(under), ['Here.']);
  assert.deepEqual(under.door.results, [['next', { of: 'redirect' }]]);
});

test('a text is said so many times without a gap', async () => {
  const under = await openProgram(calls, [say('Again.', { times: 3 })]);
  await ends(under);
  assert.deepEqual(spoken(under), ['Again.', 'Again.', 'Again.']);
});

test('a sound is played, and one that cannot be had is a warning', async () => {
  const play = (sound: string, times: number) => ({ verb: 'play', sound, times }) as const;
  const under = await openProgram(calls, [play('none', 1), play('tune', 2), say('End.')], {
    sounds: { tune: { samples: new Float32Array(8000).fill(0.1), sampleRate: 8000 } },
  });
  await ends(under);
  const lengths = under.events.flatMap((event) =>
    event.type === 'utterance.spoken' && event.text === '' ? [event.durationMs] : [],
  );
  assert.deepEqual(lengths, [1000, 1000]);
  assert.deepEqual(under.mistakes(), ['program.warning: there is no sound none']);
});

for (const [verbs, signals] of [
  [[say('Hello.')], ['answered']],
  [[{ verb: 'hangup' }], ['answered']],
  [[gather()], ['answered']],
  [[{ verb: 'reject', reason: 'busy' }], ['refused 486']],
  [[{ verb: 'reject', reason: 'rejected' }], ['refused 404']],
  [
    [
      { verb: 'pause', ms: 60_000 },
      { verb: 'reject', reason: 'busy' },
    ],
    [],
  ],
  [[{ verb: 'redirect', to: { at: 'busy' } }], ['refused 486']],
] as const) {
  const names = verbs.map(({ verb }) => verb).join(', ');
  test(`${names} ${signals.length === 0 ? 'leaves the call ringing' : `has the caller ${signals[0]}`}`, async () => {
    const programs = { busy: program({ verb: 'reject', reason: 'busy' }) };
    const under = await openProgram(calls, verbs, { isAnswered: false, programs });
    assert.deepEqual(under.signals, signals);
  });
}

test('reject behind the answer hangs up', async () => {
  const under = await openProgram(calls, [say('No.'), { verb: 'reject', reason: 'busy' }]);
  await ends(under);
  assert.deepEqual(spoken(under), ['No.']);
});

test('a caller who gives up before the answer ends the program', async () => {
  const under = await openProgram(calls, [{ verb: 'pause', ms: 60_000 }, say('Hello.')], {
    isAnswered: false,
  });
  under.givesUp();
  await settle();
  under.pass(61_000);
  await under.run.over;
  assert.deepEqual(under.signals, []);
  assert.ok(under.door.isClosed);
  assert.equal(under.time.waiting, 0);
});

test('a caller who hangs up ends the verb and the program', async () => {
  const under = await openProgram(calls, [
    gather({ prompts: [say('Please enter your number.')] }),
    say('Next.'),
  ]);
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.call.close('peer hung up');
  await under.run.over;
  assert.deepEqual(under.door.results, []);
  assert.deepEqual(verbsOf(under), ['gather']);
});

test('another program takes the place of the one that runs, in the middle of a sentence', async () => {
  const under = await openProgram(calls, [say('This is a long story that nobody wants to hear to its end.')]);
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.run.replace({ program: program(say('Now this.')) });
  await ends(under);
  assert.equal(under.count('utterance.interrupted'), 1);
  assert.deepEqual(spoken(under), ['Now this.']);
});

test('a target takes the place of a gather, whose keys so far are lost', async () => {
  const under = await openProgram(calls, [gather()], { programs: { other: program(say('Elsewhere.')) } });
  under.press('12');
  under.run.replace({ target: { at: 'other' } });
  await ends(under);
  assert.deepEqual(under.door.results, [['other', { of: 'redirect' }]]);
  assert.deepEqual(spoken(under), ['Elsewhere.']);
});

test('after the end nothing takes the place of the program', async () => {
  const under = await openProgram(calls, []);
  await ends(under);
  await under.run.over;
  assert.throws(() => under.run.replace({ program: program() }), { code: 'CALL_STATE' });
});

test('nothing takes the place of a program that has ended, while its call is being hung up', async () => {
  const chain = new ProgramChain({
    door: { follow: () => assert.fail('no program follows') },
    count: new ProgramCount(new ManualTime(0)),
    perform: () => Promise.resolve('next'),
    began: () => undefined,
    warn: () => undefined,
  });
  const load = () => Promise.resolve(program({ verb: 'pause', ms: 1000 }));
  assert.equal(await chain.perform(load), 'done');
  assert.throws(() => chain.replace(load), {
    code: 'CALL_STATE',
    message: 'the program of the call has ended',
  });
});

test('a program that cannot be had: the caller is answered, hears an apology, and the call ends', async () => {
  const failing = () =>
    Promise.reject(new ProgramError({ code: '11200', message: 'status 500', document: 'http://a/' }));
  const under = await openProgram(calls, [], { isAnswered: false, programs: { first: failing } });
  await ends(under);
  assert.deepEqual(under.signals, ['answered']);
  assert.deepEqual(spoken(under), [APOLOGY]);
  assert.deepEqual(
    under.events.find(({ type }) => type === 'program.failed'),
    {
      type: 'program.failed',
      code: '11200',
      message: 'status 500',
      document: 'http://a/',
    },
  );
});

test('programs that go round are ended after 100 in a minute, with an apology', async () => {
  const under = await openProgram(calls, [{ verb: 'redirect', to: { at: 'first' } }]);
  await ends(under);
  assert.equal(under.door.results.length, 99);
  assert.deepEqual(spoken(under), [APOLOGY]);
  assert.match(under.mistakes().at(-1) ?? '', /more than 100 programs have begun within a minute/);
});

test('warnings of a program are told, also those from before the answer', async () => {
  const warned = {
    verbs: [say('Hello.')],
    warnings: [{ code: '12200', message: 'what is Sing?', line: 3, column: 1 }],
  };
  const under = await openProgram(calls, [], { isAnswered: false, programs: { first: warned } });
  await ends(under);
  assert.deepEqual(under.mistakes(), ['program.warning: what is Sing?']);
});

test('a voice that this server lacks is a warning, and the text is said by the usual one', async () => {
  const asked: object[] = [];
  const warnings: string[] = [];
  const speak = (_text: unknown, options: { voice?: string } = {}): Utterance => {
    asked.push(options);
    if (options.voice !== undefined) throw new ParleyError('VOICE_UNKNOWN', 'there is no voice "nobody"');
    return { ended: Promise.resolve({ end: 'spoken', text: '', durationMs: 0 }) } as Utterance;
  };
  const call = { speak, play: assert.fail, interrupt: assert.fail };
  const scene = {
    signal: new AbortController().signal,
    time: new ManualTime(),
    door: { sound: assert.fail },
    warn: ({ message }: Warning) => void warnings.push(message),
  };
  await new Prompter(call, scene, 'none').heard([say('Hello.', { voice: 'nobody', language: 'de' })]);
  assert.deepEqual(asked.length, 2);
  assert.deepEqual(warnings, ['there is no voice "nobody"']);
});

test('keys are pressed towards the far end, and a comma waits half a second', async () => {
  const under = await openProgram(calls, [{ verb: 'press', digits: '12,3' }]);
  await settle();
  under.pass(400);
  await settle();
  assert.deepEqual(under.orders, ['press 1', 'press 2']);
  await ends(under);
  assert.deepEqual(under.orders, ['press 1', 'press 2', 'press 3', 'hang up']);
});

test('another program stops the keys that are still to be pressed', async () => {
  const under = await openProgram(calls, [{ verb: 'press', digits: `1${','.repeat(60)}2` }]);
  await settle();
  assert.deepEqual(under.orders, ['press 1']);
  const beganMs = under.time.now();
  under.run.replace({ program: program(say('Now this.')) });
  await ends(under);
  assert.deepEqual(under.orders, ['press 1', 'hang up']);
  assert.deepEqual(spoken(under), ['Now this.']);
  assert.ok(under.time.now() - beganMs < 10_000, 'the waits are cut short');
});

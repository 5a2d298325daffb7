// Detection of who answers. Generated calls of people, voicemails, faxes, screening services and silent lines
// pass the listening loop with Silero, the tone detector and the decision, as fast as those can work.
//
//   npm run bench -- answering           320 calls
//   npm run bench -- answering --quick   80 calls
//   npm run bench -- answering --all     lists mistakes by classes of calls, and the calls themselves, too
//   npm run bench -- answering --seed 7  other calls; seeds 1, 2 and 4 have set the parameters
//
// The first result after the answer counts, but for "screening told", which counts any. "Beep" is its end as
// it was told, beside the real one. "Human p50" and "p90" are from the end of a person's last word to the
// decision. With "words" a recogniser tells the text 0.4 s behind the speech, each half second.
import { SileroModel } from '../../../src/hearing/silero.js';
import type { VoiceMemory, VoiceModel } from '../../../src/hearing/voice-model.js';
import { type Answerer, type AnsweredSound, answeredCall, answerKit } from '../../call/answer-calls.js';
import { type AnswerTrial, decided, heardCalls } from '../../call/answer-trial.js';
import { quantileOf } from '../../hearing/echo-trial.js';
import { machine, type Row, table } from '../table.js';

const ALL = process.argv.includes('--all');
const QUICK = process.argv.includes('--quick');
const HALF = process.argv.includes('--half');
const option = (name: string, usual: number): number => {
  const at = process.argv.indexOf(name);
  return at < 0 ? usual : Number(process.argv[at + 1]);
};
const SEED = option('--seed', 2);
const MOST_BEEP_ERROR_MS = 100;
const SHARES: readonly (readonly [Answerer, number])[] = [
  ['human', 34],
  ['machine', 34],
  ['screening', 4],
  ['fax', 3],
  ['silence', 3],
  ['intercept', 2],
];
const RESULTS = [
  'human',
  'machine',
  'machine_beep',
  'screening',
  'fax',
  'silence',
  'announcement',
  'tone',
  'unknown',
] as const;

const began = performance.now();
const kit = await answerKit();
const calls: AnsweredSound[] = [];
for (const [answerer, share] of SHARES)
  for (let n = 0; n < share * (QUICK ? 1 : 4); n++)
    calls.push(await answeredCall({ answerer, seed: SEED * 10_000 + calls.length, half: HALF }, kit));
await kit.speakers.close();
const model = (await SileroModel.load()) as VoiceModel<VoiceMemory>;
const heard = await heardCalls(calls, model);
await model.close();

/** The first result after the answer; before it for a call that is never answered. */
const firstOf = ({ call, results }: AnswerTrial) =>
  results.find(({ isEarly }) => isEarly === (call.answeredMs === Infinity));

const shareOf = (part: number, all: number): string => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;

function confusion(trials: readonly AnswerTrial[]): Row[] {
  return SHARES.map(([answerer]) => {
    const own = trials.filter(({ call }) => call.answerer === answerer);
    const firsts = own.map((trial) => firstOf(trial)?.by ?? 'unknown');
    const counts = RESULTS.map((by) => [by, firsts.filter((one) => one === by).length] as const);
    return { 'who answers': answerer, calls: own.length, ...Object.fromEntries(counts) };
  });
}

function figures(name: string, trials: readonly AnswerTrial[]): Row {
  const of = (answerer: Answerer) => trials.filter(({ call }) => call.answerer === answerer);
  const isMachine = (by: string | undefined) => by?.startsWith('machine') === true;
  const [people, machines] = [of('human'), of('machine')];
  const wrongPeople = people.filter((trial) => isMachine(firstOf(trial)?.by)).length;
  const wrongMachines = machines.filter((trial) => firstOf(trial)?.by === 'human').length;
  const services = of('screening');
  const told = services.filter(({ results }) => results.some(({ by }) => by === 'screening'));
  const late = people
    .flatMap((trial) => {
      const first = firstOf(trial);
      return first?.by === 'human' ? [first.atMs - (trial.call.greetingEndMs ?? 0)] : [];
    })
    .toSorted((a, b) => a - b);
  return {
    decided: name,
    'human called machine': shareOf(wrongPeople, people.length),
    'machine called human': shareOf(wrongMachines, machines.length),
    'screening told': shareOf(told.length, services.length),
    'human p50 ms': quantileOf(late, 0.5),
    'p90 ms': quantileOf(late, 0.9),
  };
}

const tried = (words: boolean) => heard.map((one) => decided(one, {}, words));
const soundS = calls.reduce((sum, { sound }) => sum + sound.length / 16_000, 0);
console.log(
  `${machine()}; ${calls.length} calls, ${Math.round(soundS)} s of sound, seed ${SEED}, ${Math.round((performance.now() - began) / 1000)} s\n`,
);
console.log(table(confusion(tried(false))), '\n');
console.log(table(confusion(tried(true))), '\n');
console.log(table([figures('by speech and tones', tried(false)), figures('with words, too', tried(true))]));
console.log(`\n${table([beeps()])}`);

type Heard = (typeof heard)[number];

/** Milliseconds from the end of the beep to the nearest end that was told. */
function beepError({ call, tones }: Heard): number {
  const told = tones.filter(({ tone: { kind } }) => kind === 'beep' || kind === 'cng');
  const ends = told.map(({ tone }) => Math.abs(tone.atMs + tone.durationMs - (call.beep?.endMs ?? 0)));
  return Math.min(Infinity, ...ends);
}

/** A beep counts as found if its end is told to within 100 ms. */
function beeps(): Row {
  const all = heard.filter(({ call }) => call.beep !== undefined);
  const errors = all.map(beepError).toSorted((a, b) => a - b);
  const found = errors.filter((ms) => ms <= MOST_BEEP_ERROR_MS).length;
  const talkedOff = heard.flatMap(({ call, tones }) =>
    call.beep === undefined && call.answerer !== 'fax'
      ? tones.filter(({ tone }) => tone.kind === 'beep')
      : [],
  );
  return {
    beeps: all.length,
    'within 100 ms': shareOf(found, all.length),
    'error p50 ms': quantileOf(errors, 0.5),
    'p90 ms': quantileOf(errors, 0.9),
    'beeps heard where none was': talkedOff.length,
  };
}

/** Length of the greeting. */
function lengthOf({ said }: AnsweredSound): string {
  const ms = said.reduce((sum, { beginMs, endMs }) => sum + endMs - beginMs, 0);
  const limit = [1000, 2000, 4000, 8000].find((most) => ms <= most);
  return limit === undefined ? 'over 8 s' : `up to ${limit / 1000} s`;
}

/** The mistakes by the classes of the calls. */
function classes(trials: readonly AnswerTrial[]): Row[] {
  const lost = new Set(
    heard.flatMap((one) => (one.call.beep && beepError(one) > MOST_BEEP_ERROR_MS ? [one.call] : [])),
  );
  const rows = new Map<
    string,
    { calls: number; people: number; machines: number; beeps: number; lost: number }
  >();
  for (const trial of trials) {
    const { call } = trial;
    if (call.answerer !== 'human' && call.answerer !== 'machine') continue;
    const by = firstOf(trial)?.by;
    for (const [name, value] of Object.entries({ ...call.classes, length: lengthOf(call) })) {
      const key = `${name}: ${value}`;
      const row = rows.get(key) ?? { calls: 0, people: 0, machines: 0, beeps: 0, lost: 0 };
      row.calls++;
      if (call.answerer === 'human' && by?.startsWith('machine') === true) row.people++;
      if (call.answerer === 'machine' && by === 'human') row.machines++;
      if (call.beep !== undefined) row.beeps++;
      if (lost.has(call)) row.lost++;
      rows.set(key, row);
    }
  }
  return [...rows]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, row]) => ({
      class: name,
      calls: row.calls,
      'human called machine': row.people,
      'machine called human': row.machines,
      beeps: row.beeps,
      'beeps not found': row.lost,
    }));
}

if (ALL) {
  for (const words of [false, true]) {
    console.log(`\n${table(classes(tried(words)))}\n`);
    for (const trial of tried(words)) listIfWrong(trial);
  }
  for (const one of heard) if (one.call.beep && beepError(one) > MOST_BEEP_ERROR_MS) listBeep(one);
}

function listIfWrong(trial: AnswerTrial): void {
  const { call, results } = trial;
  const by = firstOf(trial)?.by;
  const isRight = call.answerer === 'machine' ? by?.startsWith('machine') : by === call.answerer;
  if (isRight === true) return;
  const told = results.map((one) => `${one.by} ${Math.round(one.atMs)}`).join(', ');
  console.log(
    `${call.name}; ${classesOf(call)}; greeting until ${Math.round(call.greetingEndMs ?? 0)} ms: ${told}`,
  );
}

function listBeep({ call, tones }: Heard): void {
  const told = tones.map(
    ({ tone: { kind, hz, atMs, durationMs } }) =>
      `${kind} ${Math.round(hz)} Hz ${Math.round(atMs)} to ${Math.round(atMs + durationMs)}`,
  );
  const { beginMs = 0, endMs = 0 } = call.beep ?? {};
  const place = `${Math.round(beginMs)} to ${Math.round(endMs)} ms`;
  console.log(`beep of ${call.name}; ${classesOf(call)}; ${place}: ${told.join(', ')}`);
}

function classesOf({ classes: { voice, codec, background, loss } }: AnsweredSound): string {
  return [voice, codec, background, `loss ${loss}`].join(', ');
}

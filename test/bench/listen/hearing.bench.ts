// What hearing makes of echoes, of speech over them and of babble. The sounds are made up and the same in
// each run; they pass the listening loop and Silero as fast as those can work.
//
//   npm run bench -- hearing           ten minutes of each echo, four of speech over it
//   npm run bench -- hearing --quick   one minute, and one of speech over it
//   npm run bench -- hearing --seed 7  eight echoes that the seed draws, with other sentences of ours
//
// "Paused after" is the time from the first loud sample of a reply over the echo until the voice is paused.
// "Weak" replies are 6 dB weaker. "Missed" counts replies that pause nothing within 3 s. A caller is 21 dB
// below full scale, and so is our voice: with a loss of 12 dB a weak caller is 6 dB above the echo.
// "In calls" counts the pauses and interruptions in calls of 8 s whose guards know nothing at the start.
// A window has 32 ms; its cost includes the model.
//
// The second table has words without an echo, many of which begin with a fricative or a closure: the time
// from their first sample above -40 dBFS until the voice is paused, and stays so until speech is found.
// Below are the pauses in a minute of each noise.
import { SileroModel } from '../../../src/hearing/silero.js';
import type { VoiceMemory, VoiceModel } from '../../../src/hearing/voice-model.js';
import { babble, drawnEchoes, ECHOES, ourOtherVoice, ourVoice, replies } from '../../hearing/echoes.js';
import {
  interruptionsBy,
  interruptionsInCalls,
  onsetTime,
  quantileOf,
  timesToPause,
} from '../../hearing/echo-trial.js';
import {
  amplified,
  breath,
  companded,
  cough,
  joined,
  keyboard,
  mixed,
  noise,
  silence,
  speech,
} from '../../hearing/sounds.js';
import { machine, type Row, table } from '../table.js';

const QUICK = process.argv.includes('--quick');
const ECHO_S = QUICK ? 60 : 600;
const OVER_S = QUICK ? 60 : 240;
const BABBLE_S = QUICK ? 20 : 60;
const BABBLES_DB = [-45, -35, -30, -25] as const;
const VOICES = 8;
const SENTENCES = [
  'Excuse me, can I ask you something?',
  'Stop, I have a question.',
  'Sorry, that is wrong.',
  'Thank you, but no.',
  'Please hold on.',
  'Can you repeat that?',
  'Four, not five.',
  'What did you say?',
  'She is my wife.',
  'Hang on a second.',
  'Three of them, thanks.',
  'Hello, are you there?',
] as const;
const VOICES_OF_CALLERS = ['slt', 'awb', 'rms'] as const;
/** Places of a window at which a word may begin, in milliseconds. */
const PLACES = [0, 8, 16, 24] as const;
const WEAK_DB = -6;
const SEED = process.argv.indexOf('--seed');
const seed = SEED < 0 ? undefined : Number(process.argv[SEED + 1]);

const model = (await SileroModel.load()) as VoiceModel<VoiceMemory>;
const ours = await (seed === undefined ? ourVoice : ourOtherVoice)(ECHO_S);
const said = await replies();
const weak = said.map((reply) => amplified(reply, WEAK_DB));
const overOurs = ours.subarray(0, OVER_S * 16_000);

interface Heard {
  readonly name: string;
  readonly alone: Float32Array;
  readonly over: Parameters<typeof timesToPause>[0]['echo'];
}

async function rowOf({ name, alone, over }: Heard): Promise<Row> {
  const { pauses, interruptions, windowUs } = await interruptionsBy(alone, ours, model);
  const calls = await interruptionsInCalls(alone, ours, model);
  const times = await timesToPause({ echo: over, ours: overOurs, replies: said }, model);
  const weakTimes = await timesToPause({ echo: over, ours: overOurs, replies: weak }, model);
  return {
    'the caller returns': name,
    pauses,
    interruptions,
    'in calls': `${calls.pauses}, ${calls.interruptions} of ${calls.calls}`,
    'us a window': Math.round(windowUs),
    'paused after p50 ms': quantileOf(times, 0.5),
    'p95 ms': quantileOf(times, 0.95),
    missed: missedOf(times),
    'weak p50 ms': quantileOf(weakTimes, 0.5),
    'weak p95 ms': quantileOf(weakTimes, 0.95),
    'weak missed': missedOf(weakTimes),
  };
}

const missedOf = (times: readonly number[]) =>
  `${times.filter((ms) => ms === Infinity).length} of ${times.length}`;

const line = (sound: Float32Array) => mixed(sound, noise(sound.length / 16, -65));
async function onsetRow(): Promise<Row> {
  const times: number[] = [];
  for (const voice of VOICES_OF_CALLERS) {
    for (const text of SENTENCES) {
      const said = await speech(text, voice);
      for (const place of PLACES) times.push(await onsetTime(companded(line(said)), 640 + place, model));
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => quantileOf(sorted, share);
  const spread = { 'p50 ms': at(0.5), 'p95 ms': at(0.95), 'max ms': at(1) };
  return { sound: `${sorted.length} words`, ...spread, pauses: '', interruptions: '' };
}

async function noiseRow(name: string, one: (n: number) => Float32Array): Promise<Row> {
  const parts: Float32Array[] = [silence(640)];
  for (let n = 0; parts.reduce((sum, { length }) => sum + length, 0) < 60 * 16_000; n++)
    parts.push(one(n), silence(900));
  const sound = line(joined(...parts));
  const { pauses, interruptions } = await interruptionsBy(sound, silence(sound.length / 16), model);
  return { sound: name, pauses, interruptions };
}

const rows: Row[] = [
  await rowOf({
    name: 'nothing',
    alone: line(silence(ECHO_S * 1000)),
    over: { returned: (sound) => silence(sound.length / 16), coded: line },
  }),
];
for (const echo of seed === undefined ? ECHOES : drawnEchoes(seed, 8)) {
  const alone = echo.coded(echo.returned(ours));
  rows.push(await rowOf({ name: echo.name, alone, over: echo }));
}
for (const db of seed === undefined ? BABBLES_DB : []) {
  const crowd = await babble(VOICES, Math.max(BABBLE_S, OVER_S), db);
  const over = { returned: () => crowd.subarray(0, overOurs.length), coded: line };
  const alone = line(crowd.subarray(0, BABBLE_S * 16_000));
  rows.push(await rowOf({ name: `babble of ${VOICES} voices, ${db} dB`, alone, over }));
}
const onsets = [
  await onsetRow(),
  await noiseRow('coughs', (n) => cough(-25, n + 2)),
  await noiseRow('breaths', (n) => breath(-30, n + 3)),
  await noiseRow('keys', (n) => keyboard(2000, -30, n + 4)),
];
await model.close();
console.log(`${machine()}; ${ECHO_S} s of each echo, ${BABBLE_S} s of babble\n`);
console.log(table(rows));
console.log(`\n${table(onsets)}`);

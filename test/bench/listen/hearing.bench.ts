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
import { SileroModel } from '../../../src/hearing/silero.js';
import type { VoiceMemory, VoiceModel } from '../../../src/hearing/voice-model.js';
import { babble, drawnEchoes, ECHOES, ourOtherVoice, ourVoice, replies } from '../../hearing/echoes.js';
import { interruptionsBy, interruptionsInCalls, quantileOf, timesToPause } from '../../hearing/echo-trial.js';
import { amplified, mixed, noise, silence } from '../../hearing/sounds.js';
import { machine, type Row, table } from '../table.js';

const QUICK = process.argv.includes('--quick');
const ECHO_S = QUICK ? 60 : 600;
const OVER_S = QUICK ? 60 : 240;
const BABBLE_S = QUICK ? 20 : 60;
const BABBLES_DB = [-45, -35, -30, -25] as const;
const VOICES = 8;
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
await model.close();
console.log(`${machine()}; ${ECHO_S} s of each echo, ${BABBLE_S} s of babble\n`);
console.log(table(rows));

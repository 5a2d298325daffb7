// A few generated calls, judged by their speech and tones; `npm run bench -- answering` has hundreds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SileroModel } from '../../src/hearing/silero.js';
import type { VoiceMemory, VoiceModel } from '../../src/hearing/voice-model.js';
import { type Answerer, answeredCall, answerKit } from './answer-calls.js';
import { decided, heardCalls } from './answer-trial.js';

const PLANS: readonly (readonly [Answerer, number])[] = [
  ['human', 8],
  ['machine', 8],
  ['fax', 2],
  ['silence', 2],
  ['intercept', 2],
];
/** The first result that counts of each. */
const EXPECTED: Readonly<Record<Answerer, RegExp>> = {
  human: /^human$/,
  machine: /^machine/,
  screening: /^screening$/,
  fax: /^fax$/,
  silence: /^silence$/,
  intercept: /^tone$/,
};

test('people, voicemails, faxes, silent lines and announcements are told apart, and beeps are found', async () => {
  const kit = await answerKit();
  const plans = PLANS.flatMap(([answerer, count]) =>
    Array.from({ length: count }, (_, n) => ({ answerer, seed: 500 + n })),
  );
  const calls = [];
  for (const plan of plans) calls.push(await answeredCall(plan, kit));
  await kit.speakers.close();
  const model = (await SileroModel.load()) as VoiceModel<VoiceMemory>;
  const heard = await heardCalls(calls, model);
  await model.close();
  let [right, beeps, found] = [0, 0, 0];
  const wrong: string[] = [];
  for (const one of heard) {
    const { call, results } = decided(one);
    const first = results.find(({ isEarly }) => isEarly === (call.answeredMs === Infinity));
    if (EXPECTED[call.answerer].test(first?.by ?? '')) right++;
    else wrong.push(`${call.name}: ${first?.by}`);
    const { beep } = call;
    if (beep === undefined) continue;
    beeps++;
    const isFound = one.tones.some(
      ({ tone: { kind, atMs, durationMs } }) =>
        (kind === 'beep' || kind === 'cng') && Math.abs(atMs + durationMs - beep.endMs) <= 100,
    );
    if (isFound) found++;
  }
  // One hard call of the 22 may be wrong, and one beep.
  assert.ok(right >= heard.length - 1, wrong.join('\n'));
  assert.ok(beeps >= 6 && found >= beeps - 1, `${found} of ${beeps} beeps`);
});

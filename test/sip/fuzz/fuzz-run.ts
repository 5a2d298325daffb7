// One seed for each run of the fuzzing tests, told by whatever fails:
//
//   FUZZ_SEED=... node dist/test/run.js fuzz     the same messages again
//   FUZZ_TIMES=100 node dist/test/run.js fuzz    a hundred times as many
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { randomFrom } from '../../api/mutations.js';

const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1);

export type Random = () => number;

/** Returns an integer from 0 to below `most`. */
export function below(most: number, random: Random): number {
  return Math.floor(random() * most);
}

export function oneOf<T>(list: readonly T[], random: Random): T {
  const found = list[below(list.length, random)];
  if (found === undefined) throw new RangeError('nothing to choose from');
  return found;
}

/** Calls `attempt` so often, each with a seed of its own, from `first` on; what it throws is told with its seed and what was shown. */
export function fuzz(
  t: TestContext,
  count: number,
  attempt: (random: Random, show: (input: string | Uint8Array) => void) => void,
  first = 0,
): void {
  const began = performance.now();
  const rounds = count * TIMES;
  let shown: string | Uint8Array = '';
  for (let round = 0; round < rounds; round++) {
    try {
      attempt(randomFrom(SEED + first + round), (input) => (shown = input));
    } catch (error) {
      assert.fail(
        `FUZZ_SEED=${SEED + first + round} (its first round): ${textOf(shown)}\n${String((error as Error).stack)}`,
      );
    }
  }
  const seconds = (performance.now() - began) / 1000;
  t.diagnostic(`${rounds} rounds, ${Math.round(rounds / seconds)} a second, FUZZ_SEED=${SEED}`);
}

function textOf(input: string | Uint8Array): string {
  const text = typeof input === 'string' ? input : Buffer.from(input).toString('latin1');
  return JSON.stringify(text.slice(0, 4000));
}

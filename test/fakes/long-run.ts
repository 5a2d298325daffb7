// The length of fuzzers and endurance tests: brief in `npm run test:full`, long in `npm run test:long`.
//
//   FUZZ_TIMES=100 node dist/test/run.js fuzz     a hundred times as many rounds
//   FUZZ_SEED=... node dist/test/run.js fuzz      the values of a run that failed

/** Rounds of a fuzzer, as a multiple of the usual number. */
export const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1);

/** True in `npm run test:long`. */
export const isLong = TIMES > 1;

/**
 * Seed of everything that a test makes up. A usual run always has the same one, so that a change and not
 * chance makes it fail; each long run has its own. A failure names it.
 */
export const SEED = Number(process.env['FUZZ_SEED'] ?? (isLong ? Math.floor(Math.random() * 2 ** 31) : 1));

/** Environment of the long run: rounds of fuzzers in TypeScript, and seconds of each native fuzzer. */
export const LONG_RUN = { FUZZ_TIMES: '30', FUZZ_SECONDS: '300' };

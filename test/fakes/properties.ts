// fast-check with the seed of the run (long-run.ts). Tests of properties import it from here.
import fc from 'fast-check';
import { SEED } from './long-run.js';

fc.configureGlobal({ seed: SEED });

export default fc;

// Presses keys towards the far end, one after another, so that another program stops them within one key.
import { asParleyError, ParleyError } from '../errors.js';
import { warningOf } from './door.js';
import { waited } from './prompts.js';
import type { Outcome, Scene } from './scene.js';
import type { Press } from './verbs.js';

const WAIT = ',';
const WAIT_MS = 500;

type PressScene = Pick<Scene, 'answered' | 'signal' | 'time' | 'warn'>;

export async function press({ digits }: Press, scene: PressScene): Promise<Outcome> {
  const { signal, time } = scene;
  const { leg } = await scene.answered();
  try {
    if (leg === undefined) throw new ParleyError('CALL_STATE', 'this call takes no keys from us');
    for (const digit of digits) {
      if (signal.aborted) return 'next';
      if (digit === WAIT) await waited(WAIT_MS, time, signal);
      else await leg.press({ digits: digit });
    }
  } catch (error) {
    if (!signal.aborted) scene.warn(warningOf(asParleyError(error, 'CALL_STATE')));
  }
  return 'next';
}

// Asks the far end to call somebody else in place of this server (REFER, RFC 3515). If that call comes to be,
// this one ends, and the target of the verb is told the result all the same.
import type { HandledCall } from '../call/call-handler.js';
import type { TransferOutcome } from '../call/phone-calls.js';
import { asParleyError, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { FORBIDDEN_NUMBER } from './dial-attempt.js';
import { type Warning, warningOf } from './door.js';
import type { Outcome, Scene } from './scene.js';
import type { Refer, ReferResult } from './verbs.js';

/** The last report of a far end that has hung up comes within this time, or never. */
const LATE_MS = 5000;

export async function refer(verb: Refer, scene: Scene): Promise<Outcome> {
  const handled = await scene.answered();
  const result = await referred(verb, handled, scene);
  // Another program has taken the place of this one.
  if (scene.signal.aborted && !handled.call.isClosing()) return 'next';
  if (verb.action === undefined) return 'next';
  return { follow: verb.action, result, isToldAtEnd: true };
}

async function referred({ to }: Refer, handled: HandledCall, scene: Scene): Promise<ReferResult> {
  const { leg, call } = handled;
  try {
    const problem = scene.calls === undefined ? 'this server has no telephone' : scene.calls.problem();
    if (problem !== undefined) throw new ParleyError('CALL_STATE', problem);
    if (leg === undefined) throw new ParleyError('CALL_STATE', 'a call of this kind cannot be referred');
    const outcome = await unlessReplaced(
      leg.transfer({ to, isLimited: true }),
      () => call.isClosing(),
      scene,
    );
    if (outcome === undefined) return { of: 'refer', isAccepted: false, status: undefined };
    if (!outcome.accepted)
      scene.warn({ message: `the far end was not referred: SIP status ${outcome.status}` });
    return { of: 'refer', isAccepted: outcome.accepted, status: outcome.status };
  } catch (error) {
    if (!scene.signal.aborted) scene.warn(refusal(asParleyError(error, 'CALL_STATE')));
    return { of: 'refer', isAccepted: false, status: undefined };
  }
}

function refusal(error: ParleyError): Warning {
  const isForbidden = error.code === 'FORBIDDEN' || error.code === 'RATE_LIMITED';
  return { ...warningOf(error), ...(isForbidden ? { code: FORBIDDEN_NUMBER } : {}) };
}

/**
 * The outcome. Undefined at once if another program takes the place of this one, and some seconds after a
 * call that has ended without a report.
 */
function unlessReplaced(
  outcome: Promise<TransferOutcome>,
  isClosing: () => boolean,
  { signal, time }: { readonly signal: AbortSignal; readonly time: Time },
): Promise<TransferOutcome | undefined> {
  return new Promise((resolve, reject) => {
    let cancel = (): void => undefined;
    const aborted = (): void => {
      if (!isClosing()) return resolve(undefined);
      cancel = time.after(LATE_MS, () => resolve(undefined));
    };
    outcome.then(resolve, reject).finally(() => {
      cancel();
      signal.removeEventListener('abort', aborted);
    });
    signal.addEventListener('abort', aborted, { once: true });
  });
}

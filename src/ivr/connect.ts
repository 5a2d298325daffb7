// Hands the conversation of a call to an agent, an application or a bot, and goes on when they have ended it.
import type { HandledCall } from '../call/call-handler.js';
import { asParleyError, attempt } from '../errors.js';
import { warningOf } from './door.js';
import { lend } from './lent-call.js';
import type { Outcome, Scene } from './scene.js';
import type { Connect, ConnectResult } from './verbs.js';

export async function connect(verb: Connect, scene: Scene): Promise<Outcome> {
  const handled = await scene.answered();
  const result = await connected(verb, handled, scene);
  // Another program has taken the place of this one.
  const isReplaced = scene.signal.aborted && !handled.call.isClosing();
  if (result === undefined || isReplaced || verb.action === undefined) return 'next';
  return { follow: verb.action, result, isToldAtEnd: true };
}

/** Undefined: nobody could be connected. */
async function connected(
  { to }: Connect,
  handled: HandledCall,
  scene: Scene,
): Promise<ConnectResult | undefined> {
  const { signal, keys, time, talks } = scene;
  const { call } = handled;
  const lent = lend(handled);
  const beganMs = time.now();
  let end: Partial<ConnectResult> = {};
  const ignored = (): void => undefined;
  const stop = (): void => {
    if (!call.isClosing()) void call.interrupt('call program');
    lent.takeBack();
  };
  try {
    if (talks === undefined || signal.aborted) return undefined;
    const talk = talks.connect(to, lent.handled, (told) => (end = { ...told, ...end }));
    keys.take(ignored); // they are for the one who talks
    const stopTyped = scene.typed((text) => attempt({ work: 'program' }, () => talk.typed(text)));
    signal.addEventListener('abort', stop, { once: true });
    await lent.over;
    stopTyped();
    talks.left(call.id);
    const status = call.isClosing() ? 'completed' : 'ended';
    return { of: 'connect', status, ...end, durationMs: time.now() - beganMs };
  } catch (error) {
    scene.warn(warningOf(asParleyError(error, 'CALL_STATE')));
    return undefined;
  } finally {
    lent.takeBack();
    keys.release(ignored);
    signal.removeEventListener('abort', stop);
  }
}

// The call of a program while somebody else talks in it: an agent, or an application. For them its end is the
// moment at which they give it back, or the end of the call itself. So they leave nothing behind, and need
// not know that a program goes on.
import type { Call } from '../call/call.js';
import type { HandledCall } from '../call/call-handler.js';

export interface LentCall {
  readonly handled: HandledCall;
  /** Resolves once it is given back, or its call has ended. */
  readonly over: Promise<void>;
  /** Takes it back. Idempotent. */
  takeBack(): void;
}

/** `hangUp` of the lent call gives it back. */
export function lend(own: HandledCall): LentCall {
  const { direction, from, to, displayName, headers, callId, path, route, leg } = own;
  let takeBack = (): void => undefined;
  const back = new Promise<string>((resolve) => (takeBack = () => resolve('given back')));
  const closed = Promise.race([own.call.closed, back]);
  const call = new Proxy(own.call, {
    get: (target, name) => {
      if (name === 'closed') return closed;
      // The call is the receiver: it has private fields, which a proxy has not.
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  }) as Call;
  return {
    handled: {
      call,
      direction,
      from,
      to,
      displayName,
      headers,
      callId,
      path,
      route,
      leg,
      hangUp: () => {
        takeBack();
        return Promise.resolve();
      },
    },
    over: closed.then(() => undefined),
    takeBack: () => takeBack(),
  };
}

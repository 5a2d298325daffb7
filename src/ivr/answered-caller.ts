// The caller of a program that begins with a call that is answered already.
import type { HandledCall } from '../call/call-handler.js';
import type { CallAbout, ProgramCaller } from '../call/call-programs.js';

/** @param parent id of the call whose program has placed this one; undefined: none has */
export function answeredCaller(
  handled: HandledCall,
  owner: string | undefined,
  parent?: string,
): ProgramCaller {
  const { call, direction, from, to, displayName, headers, callId, route, path } = handled;
  const about: CallAbout = {
    id: call.id,
    protocol: call.protocol,
    owner,
    direction,
    from,
    to,
    displayName,
    headers,
    callId,
    route,
    path,
    parent,
  };
  return {
    id: call.id,
    about,
    over: call.closed,
    answer: () => undefined,
    ring: () => undefined,
    onceTalking: (action) => action(handled),
    refuse: () => void handled.hangUp(),
  };
}

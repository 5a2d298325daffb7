// What the telephone door holds that metrics and /health tell of.
import type { SipFigures } from '../../src/observe/sip-metrics.js';
import type { Telephone } from './telephone.js';

/** `door` is asked when somebody scrapes: undefined while there is none. */
export function sipFigures(door: () => Telephone | undefined): SipFigures {
  return {
    dropped: () => door()?.dropped ?? {},
    retransmissions: () => door()?.network.transactions.countOf('retransmissions') ?? 0,
    registrations: () => door()?.registrations ?? [],
    latchDepartures: () => door()?.departures ?? 0,
    rtpPorts: () => ({ ...door()?.ports }),
  };
}

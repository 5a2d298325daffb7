// Where a response goes (RFC 3261, section 18.2.2, and RFC 3581): back to where
// its request came from. `maddr` is not followed: it is for multicast, which is not
// listened to, and otherwise lets a peer have third parties written to.
import { isIP } from 'node:net';
import type { Via } from '../message/via.js';
import { defaultPort, type Place, type TransportName } from './flow.js';

/** Over UDP. Undefined if Via names no address. */
export function datagramPlace(via: Via): Place | undefined {
  const { received, rport, sentBy } = via;
  const port = sentBy.port ?? defaultPort('udp');
  return place(received ?? sentBy.host, rport ?? port);
}

/** Where a new connection goes when that of the request is gone. */
export function connectionPlace(via: Via, transport: TransportName): Place | undefined {
  return place(via.received ?? via.sentBy.host, via.sentBy.port ?? defaultPort(transport));
}

function place(address: string, port: number): Place | undefined {
  return isIP(address) === 0 || port === 0 ? undefined : { address, port };
}

// Where the requests of ours within a call go when its peer cannot be reached
// under the Contact that it gave.
//
// The flow of the peer's own request is taken where that was a connection: it
// stands, and often there is no other way in. Over UDP it is taken where the
// Contact is an address that nobody outside can reach (private, loopback,
// link-local or the like) and not the one that the packet came from, and no
// proxy has recorded itself: then a NAT stands between, and the packet's source
// is where it lets us in. With Record-Route the proxy knows the way, and
// everything else goes to the Contact.
import ipaddr from 'ipaddr.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import type { Uri } from '../message/uri.js';
import type { Flow } from '../transport/flow.js';

/** The flow for requests to the sender of this message, or undefined if its Contact is to be located. */
export function wayBack(message: SipRequest | SipResponse, flow: Flow): Flow | undefined {
  if (flow.reliable) return flow;
  if (message.first('record-route') !== undefined) return undefined;
  const target = message.contact?.uri;
  if (target?.isSip !== true) return flow; // there is no other place to send to
  return isUnreachable(target, flow.remote.address) ? flow : undefined;
}

function isUnreachable({ host }: Uri, source: string): boolean {
  if (host === source) return false;
  if (!ipaddr.isValid(host)) return /(?:^|\.)(?:invalid|local|localhost)$/.test(host);
  return ipaddr.process(host).range() !== 'unicast' && plain(host) !== plain(source);
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

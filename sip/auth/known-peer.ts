// One whom the caller of this room knows: a source on the list of allowed
// addresses, or a trunk that this server itself called. Only such a peer is
// challenged, and only to such a one is a challenge answered: what strangers
// get of either can be tried against passwords at leisure.

const KNOWN = Symbol('a peer that is known');

export interface KnownPeer {
  readonly [KNOWN]: true;
  /** A name of the trunk or the address of the source; counts no further than equality. */
  readonly name: string;
}

/** To be called where somebody has been recognised, and nowhere else. */
export function knownPeer(name: string): KnownPeer {
  return { [KNOWN]: true, name };
}

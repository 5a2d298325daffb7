// Which way sound flows, always as one side of it says it (RFC 3264 section 5.1).

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export function directionOf(sends: boolean, receives: boolean): Direction {
  if (sends) return receives ? 'sendrecv' : 'sendonly';
  return receives ? 'recvonly' : 'inactive';
}

export function sends(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'sendonly';
}

export function receives(direction: Direction): boolean {
  return direction === 'sendrecv' || direction === 'recvonly';
}

/** What is left of our wish beside what the other side says of itself (section 6.1). */
export function mirrored(theirs: Direction, wish: Direction): Direction {
  return directionOf(sends(wish) && receives(theirs), receives(wish) && sends(theirs));
}

export function readDirection(text: string): Direction | undefined {
  const known: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];
  return known.find((direction) => direction === text.toLowerCase());
}

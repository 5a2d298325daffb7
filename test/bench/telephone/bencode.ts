// Dictionaries of strings as rtpengine's ng protocol writes them (bencode).

/** `{command: 'ping'}` → `d7:command4:pinge`; keys in order, as the form demands. */
export function bencoded(dictionary: Readonly<Record<string, string>>): string {
  const entries = Object.entries(dictionary).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `d${entries.map((entry) => entry.map(text).join('')).join('')}e`;
}

function text(value: string): string {
  return `${Buffer.byteLength(value)}:${value}`;
}

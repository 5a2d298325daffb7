// Damaged copies of a good input, the same ones in every run.

/** A generator of numbers in [0, 1) (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const NASTY = [
  '',
  '\0',
  '\r\n',
  '\r\n\r\n',
  '-1',
  '99999999999999999999',
  'NaN',
  '%s%n',
  '../../',
  '__proto__',
  'a'.repeat(5000),
  '\u{1f600}',
  '\ufffe',
  'a=',
  'm=audio',
  'a=rtpmap:111 opus/48000/2',
  'a=candidate:1 1 udp 1 127.0.0.1 1 typ host',
  'a=fingerprint:sha-256 00',
  'c=IN IP4 0.0.0.0',
];

function pick<T>(list: readonly T[], random: () => number): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

type Mutation = (text: string, random: () => number) => string;

const MUTATIONS: readonly Mutation[] = [
  // cut off
  (text, random) => text.slice(0, Math.floor(random() * text.length)),
  // a piece lost
  (text, random) => {
    const at = Math.floor(random() * text.length);
    return text.slice(0, at) + text.slice(at + Math.ceil(random() * 40));
  },
  // something put in
  (text, random) => {
    const at = Math.floor(random() * text.length);
    return text.slice(0, at) + pick(NASTY, random) + text.slice(at);
  },
  // one character another
  (text, random) => {
    const at = Math.floor(random() * text.length);
    return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + text.slice(at + 1);
  },
  // a line lost, doubled, or swapped with another
  (text, random) => {
    const lines = text.split('\r\n');
    lines.splice(Math.floor(random() * lines.length), 1);
    return lines.join('\r\n');
  },
  (text, random) => {
    const lines = text.split('\r\n');
    const line = pick(lines, random);
    return [...lines, ...Array<string>(Math.ceil(random() * 50)).fill(line)].join('\r\n');
  },
  (text, random) => {
    const lines = text.split('\r\n');
    return lines.sort(() => random() - 0.5).join('\r\n');
  },
  // a number another
  (text, random) => text.replace(/\d+/g, (digits) => (random() < 0.1 ? pick(NASTY, random) : digits)),
  // a value lost
  (text, random) => text.replace(/[:=][^\r\n]*/g, (value) => (random() < 0.1 ? pick(NASTY, random) : value)),
];

/** The text with one to three kinds of damage. */
export function mutated(text: string, random: () => number): string {
  let damaged = text;
  for (let count = 1 + Math.floor(random() * 3); count > 0; count--) {
    damaged = pick(MUTATIONS, random)(damaged, random);
  }
  return damaged;
}

/** A file cut short, with pieces lost, doubled and overwritten, mostly where its headers are. */
export function mutatedBytes(bytes: Uint8Array, random: () => number): Uint8Array {
  let damaged = Buffer.from(bytes);
  const place = () =>
    Math.floor((random() < 0.5 ? Math.min(256, damaged.length) : damaged.length) * random());
  for (let count = 1 + Math.floor(random() * 20); count > 0; count--) {
    const at = place();
    const kind = random();
    if (kind < 0.7) damaged[at] = Math.floor(random() * 256);
    else if (kind < 0.8)
      damaged = Buffer.concat([
        damaged.subarray(0, at),
        damaged.subarray(at + 1 + Math.floor(random() * 64)),
      ]);
    else if (kind < 0.9)
      damaged = Buffer.concat([
        damaged.subarray(0, at),
        damaged.subarray(place(), place()),
        damaged.subarray(at),
      ]);
    else if (kind < 0.97) damaged.fill(0xff, at, Math.min(at + 4, damaged.length));
    else damaged = damaged.subarray(0, Math.max(1, at));
  }
  return damaged;
}

// Ports for those who cannot ask for "any": other programs, two transports on one port, a port on which
// nobody listens. They lie below the range from which the system serves those who can, so that nobody else
// takes one meanwhile.
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

// Each process looks in a slice of its own: files of tests run side by side, and between looking and taking
// another could take the same.
const SLICES = 16;
const SLICE_PORTS = 600;
const FIRST = 20_000 + (process.pid % SLICES) * SLICE_PORTS;
const LAST = FIRST + SLICE_PORTS;

/**
 * RTP ports of servers under test: below the slices, so that no call takes a port between looking and taking.
 */
export const RTP_PORTS_OF_SERVER = { RTP_PORT_MIN: '16384', RTP_PORT_MAX: '19999' } as const;
const given = new Set<number>();

/** The first of `count` ports in a row, an even one, that are free for UDP and TCP on 127.0.0.1. */
export function freePorts(count = 1): Promise<number> {
  return freeBetween(FIRST, LAST, count);
}

const LATE_SLICES = 100;
const LATE_PORTS = 12;
const FIRST_LATE = 15_000 + (process.pid % LATE_SLICES) * LATE_PORTS;

/**
 * As `freePorts`, for a test that takes the ports long after it has looked: there are more slices, of few
 * ports.
 */
export function latePorts(count = 1): Promise<number> {
  return freeBetween(FIRST_LATE, FIRST_LATE + LATE_PORTS, count);
}

async function freeBetween(from: number, to: number, count: number): Promise<number> {
  const places = Math.floor((to - from - count) / 2);
  const start = Math.floor(Math.random() * places);
  for (let tried = 0; tried < places; tried++) {
    const first = from + 2 * ((start + tried) % places);
    const ports = Array.from({ length: count }, (_, n) => first + n);
    if (ports.some((port) => given.has(port))) continue;
    const free = await Promise.all(ports.map(async (port) => (await udpIsFree(port)) && tcpIsFree(port)));
    if (free.includes(false)) continue;
    for (const port of ports) given.add(port);
    return first;
  }
  throw new Error(`no ${count} free ports in a row between ${from} and ${to}`);
}

function udpIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}

function tcpIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** True if the kernel lists a socket on the port; for TCP, a listening one. */
export function isHeld(transport: 'udp' | 'tcp', port: number): boolean {
  const place = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return (
    readFileSync(`/proc/net/${transport}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      // State 0A is LISTEN.
      .some(([, local, , state]) => local?.endsWith(place) && (transport === 'udp' || state === '0A'))
  );
}

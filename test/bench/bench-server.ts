// The server of the HTTP bench, in a process of its own so that it has a core
// and an event loop of its own. Its parent asks it for figures by message.
//
//   node bench-server.js parley   the whole server
//   node bench-server.js fastify  a route of fastify's that answers the same bytes
//   node bench-server.js node     Node's own server that does: what nothing on it can beat
import { fastify } from 'fastify';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';

/** IPC messages between the parent process and the server. */
export type ToBenchServer =
  { readonly type: 'body'; readonly bytes: number } | { readonly type: 'begin' | 'figures' };
export type FromBenchServer =
  | { readonly type: 'listening'; readonly port: number }
  | {
      readonly type: 'figures';
      /** Milliseconds that the event loop was late. */
      readonly delay: { readonly p50: number; readonly p99: number; readonly max: number };
      /** CPU time in milliseconds of all threads of the process, since `begin`. */
      readonly cpuMs: number;
    };

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let body = Buffer.alloc(0);
let cpu = process.cpuUsage();

function say(message: FromBenchServer): void {
  process.send?.(message);
}

async function open(kind: string): Promise<number> {
  if (kind === 'parley') {
    const { url } = await startServer(readConfig({ ...process.env, PORT: '0', LOG_LEVEL: 'silent' }));
    return Number(new URL(url).port);
  }
  const headers = { 'content-type': 'audio/opus' };
  if (kind === 'fastify') {
    const app = fastify({ logger: false });
    app.post('/v1/audio/speech', (_request, reply) => reply.headers(headers).send(body));
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  }
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { ...headers, 'content-length': String(body.length) });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

process.on('message', (message: ToBenchServer) => {
  if (message.type === 'body') {
    body = Buffer.alloc(message.bytes, 1);
  } else if (message.type === 'begin') {
    cpu = process.cpuUsage();
    delay.enable();
    delay.reset();
  } else {
    const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);
    const used = process.cpuUsage(cpu);
    const [p50, p99, max] = [late(delay.percentile(50)), late(delay.percentile(99)), late(delay.max)];
    say({ type: 'figures', delay: { p50, p99, max }, cpuMs: (used.user + used.system) / 1000 });
  }
});
process.once('disconnect', () => process.exit(0));
say({ type: 'listening', port: await open(process.argv[2] ?? 'parley') });

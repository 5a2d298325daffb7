// The name servers of this machine.
import { promises as dns } from 'node:dns';
import type { Answer, Resolver } from './resolver.js';

const NOTHING = new Set(['ENODATA', 'ENOTFOUND']);

/** `timeoutMs` is for one try at one name server. `servers`: others than those of this machine, as `127.0.0.1:53`. */
export function systemResolver(timeoutMs: number, servers?: readonly string[]): Resolver {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return {
    naptr: (name) =>
      orNothing(async () => ({
        records: (await resolver.resolveNaptr(name)).map(({ order, preference, flags, service, replacement }) => ({
          order,
          preference,
          flags,
          service,
          replacement,
        })),
      })),
    srv: (name) =>
      orNothing(async () => ({
        records: (await resolver.resolveSrv(name)).map(({ priority, weight, port, name: target }) => ({
          priority,
          weight,
          port,
          target,
        })),
      })),
    addresses: (name, family) =>
      orNothing(async () => {
        const found = await (family === 6
          ? resolver.resolve6(name, { ttl: true })
          : resolver.resolve4(name, { ttl: true }));
        const ttlSeconds = Math.min(...found.map(({ ttl }) => ttl));
        return { records: found.map(({ address }) => address), ttlSeconds };
      }),
  }; // prettier-ignore
}

async function orNothing<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  try {
    return await ask();
  } catch (error) {
    if (NOTHING.has((error as NodeJS.ErrnoException).code ?? '')) return { records: [] };
    throw error;
  }
}

// Processors of the machine by their numbers, as Linux tells of them: those of
// a NUMA node, and those that this process may use.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the system tells it; parameters for tests. */
export interface MachineFiles {
  /** Folder with node0, node1, ... */
  readonly nodes: string;
  /** Has the line Cpus_allowed_list. */
  readonly status: string;
}

export const LINUX: MachineFiles = { nodes: '/sys/devices/system/node', status: '/proc/self/status' };

/** The numbers in a list such as 0-3,6, each once and in its order; undefined for what is none, or is not below `limit`. */
export function numbersIn(list: string, limit: number): readonly number[] | undefined {
  const numbers = new Set<number>();
  for (const item of list.split(',').map((one) => one.trim())) {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(item) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (!(from <= to && to < limit)) return undefined;
    for (let number = from; number <= to; number++) numbers.add(number);
  }
  return [...numbers];
}

/** The nodes that there are; none where the system does not tell. */
export function numaNodes({ nodes }: MachineFiles): readonly number[] {
  if (!existsSync(nodes)) return [];
  const found = readdirSync(nodes).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
  return found.map(Number).toSorted((a, b) => a - b);
}

/** The cores of a node that this process may use. */
export function coresOfNode(node: number, { nodes, status }: MachineFiles, limit: number): readonly number[] {
  const all = numbersIn(readFileSync(join(nodes, `node${node}`, 'cpulist'), 'utf8'), limit) ?? [];
  const list = existsSync(status) ? /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(status, 'utf8')) : null;
  const allowed = numbersIn(list?.[1] ?? '', limit);
  return allowed === undefined ? all : all.filter((core) => allowed.includes(core));
}

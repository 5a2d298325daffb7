// In which order records of DNS are tried.
import type { NaptrRecord, SrvRecord } from './resolver.js';

/** By priority, and among equals by lot, weighted (RFC 2782). `random` gives numbers in [0, 1). */
export function srvOrder(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  const usable = records.filter(({ target }) => target !== '' && target !== '.');
  const priorities = [...new Set(usable.map(({ priority }) => priority))].toSorted((a, b) => a - b);
  return priorities.flatMap((priority) => drawn(usable.filter((record) => record.priority === priority), random)); // prettier-ignore
}

function drawn(records: readonly SrvRecord[], random: () => number): SrvRecord[] {
  // Those without weight come first in each draw: they keep their very small chance.
  const left = records.toSorted((a, b) => a.weight - b.weight);
  const order: SrvRecord[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + weight, 0);
    const lot = Math.floor(random() * (total + 1));
    let sum = 0;
    const index = left.findIndex(({ weight }) => (sum += weight) >= lot);
    order.push(...left.splice(Math.max(index, 0), 1));
  }
  return order;
}

export function naptrOrder(records: readonly NaptrRecord[]): NaptrRecord[] {
  return records.toSorted((a, b) => a.order - b.order || a.preference - b.preference);
}

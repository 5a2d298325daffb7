// A metric whose values are kept elsewhere and read when somebody scrapes.
import type { Metric } from 'prom-client';

export interface ScrapedValue {
  readonly value: number;
  readonly labels?: Record<string, string | number>;
  readonly metricName?: string;
}

// prom-client's own counters and histograms cannot be set to a total that is
// kept elsewhere, and setting is what a scrape of native counters needs. A
// registry asks a metric for nothing but its name and get().
export function readAtScrape(
  name: string,
  help: string,
  type: 'counter' | 'gauge' | 'histogram',
  values: () => ScrapedValue[],
): Metric {
  const metric = {
    name,
    help,
    get: () => Promise.resolve({ name, help, type, values: values(), aggregator: 'sum' }),
    reset: () => undefined,
  };
  return metric as unknown as Metric;
}

/** A part that fails takes its own figure out of a scrape, not the others. */
export function readable(read: () => number): number {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}

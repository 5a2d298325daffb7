// Prints the figures of a bench as a Markdown table, and describes the machine that gave them.
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

export type Row = Readonly<Record<string, string | number>>;

/** Columns are the keys of the first row. */
export function table(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => cell(row[column] ?? '')))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => (line[index] ?? '').length), 3));
  const line = (values: readonly string[]): string =>
    `| ${values.map((value, index) => value.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

/** Milliseconds to two digits, counts whole. */
function cell(value: string | number): string {
  if (typeof value === 'string') return value;
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

export function machine(): string {
  const processors = cpus();
  return `${processors.length} × ${processors[0]?.model ?? 'unknown'}, Node ${process.version}, Linux`;
}

const STEAL_FIELD = 8; // field index in the "cpu" line of /proc/stat (proc(5))
const TICKS_PER_SECOND = 100; // USER_HZ

/**
 * Seconds since boot that the host gave to other machines while this one wanted to run, of all processors
 * together. Lateness cannot be less than this. 0 if the system does not count it.
 */
export function stolenSeconds(): number {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    return Number(line.split(/\s+/)[STEAL_FIELD] ?? 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

// Prints what a bench found as one table that Markdown understands, too.
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

// Reads one word table: tab-separated text with comment lines, blank lines and a first row of column names.
// Every error names the table, the line, the column and what is allowed there.
import { type ErrorCode, ParleyError } from '../../errors.js';
import { isPattern, parsePattern, PATTERN_CLASSES, spokenProblem } from './pattern.js';
import { type Column, type RowOf, SCHEMAS, type TableClass } from './schema.js';

export interface TableSource {
  /** Name of the table in error messages: a path, or "units of de". */
  readonly name: string;
  readonly code: Extract<ErrorCode, 'CONFIG_INVALID' | 'INVALID_FIELD'>;
  /** True: the first row must hold the names of the columns. A tenant may leave it out. */
  readonly needsHeader?: boolean;
  readonly mostRows?: number;
}

type Value = string | number | readonly string[] | undefined;
type Values = Record<string, Value>;

const LONGEST_CELL = 2_000; // characters
const CONTROL = /[\p{Cc}\p{Cs}]/u;

/** Rows of a table. Throws a ParleyError with the code of the source at the first mistake. */
export function parseTable<C extends TableClass>(
  text: string,
  name: C,
  source: TableSource,
): readonly RowOf<C>[] {
  return new Parser(name, source).parse(text) as unknown as readonly RowOf<C>[];
}

class Parser {
  readonly #class: TableClass;
  readonly #columns: Readonly<Record<string, Column>>;
  readonly #source: TableSource;
  /** Lines of the entries so far, by their scope. */
  readonly #lines = new Map<string, Map<string, number>>();

  constructor(name: TableClass, source: TableSource) {
    this.#class = name;
    this.#columns = SCHEMAS[name];
    this.#source = source;
  }

  parse(text: string): readonly Values[] {
    const rows: Values[] = [];
    let names: readonly string[] | undefined;
    for (const [index, content] of text
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)
      .entries()) {
      const line = index + 1;
      if (isBlank(content)) continue;
      const cells = content.split('\t').map((cell) => cell.trim());
      const isFirst = names === undefined;
      names ??= this.#header(cells, line) ?? Object.keys(this.#columns);
      if (isFirst && this.#isHeader(cells)) continue;
      rows.push(this.#row(cells, names, line));
      const { mostRows = Number.POSITIVE_INFINITY } = this.#source;
      if (rows.length > mostRows)
        throw this.#refusal(line, `is row ${mostRows + 1}; ${mostRows} is the most`);
    }
    return rows;
  }

  get #required(): readonly string[] {
    return Object.keys(this.#columns).filter((name) => this.#columns[name]?.required);
  }

  #isHeader([first = '']: readonly string[]): boolean {
    return Object.hasOwn(this.#columns, first);
  }

  /** Names of the columns, if the first row holds them. Its first cell decides whether it does. */
  #header(cells: readonly string[], line: number): readonly string[] | undefined {
    const known = Object.keys(this.#columns);
    if (!this.#isHeader(cells)) {
      if (this.#source.needsHeader !== true) return undefined;
      throw this.#refusal(line, `must hold the names of the columns; they are ${known.join(', ')}`);
    }
    const names = withoutEmptyEnd(cells);
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw this.#refusal(line, `names the column "${unknown}"; the columns are ${known.join(', ')}`);
    }
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw this.#refusal(line, `names the column "${twice}" twice`);
    const missing = this.#required.find((name) => !names.includes(name));
    if (missing !== undefined) throw this.#refusal(line, `lacks the column "${missing}", which is required`);
    return names;
  }

  #row(cells: readonly string[], names: readonly string[], line: number): Values {
    const given = withoutEmptyEnd(cells);
    if (cells.length === 1 && this.#required.length > 1) {
      throw this.#refusal(line, `has no tab; tabs part its columns, which are ${names.join(', ')}`);
    }
    if (given.length > names.length) {
      const columns = `${names.length} (${names.join(', ')})`;
      throw this.#refusal(line, `has ${given.length} columns, the table has ${columns}`);
    }
    const values: Values = { line };
    for (const [index, name] of names.entries()) {
      const column = this.#columns[name];
      const cell = given[index] ?? '';
      if (column === undefined) continue;
      if (cell !== '') values[name] = this.#value(cell, column, name, line);
      else if (column.required) throw this.#refusal(line, 'is empty, which is not allowed', name);
    }
    this.#checkWhole(values, line);
    this.#checkBraces(values, line);
    if (this.#class !== 'signs') this.#checkPatterns(values, line);
    this.#claimAll(values, line);
    return values;
  }

  #value(cell: string, column: Column, name: string, line: number): Value {
    if (cell.length > LONGEST_CELL) {
      throw this.#refusal(line, `has ${cell.length} characters; ${LONGEST_CELL} is the most`, name);
    }
    if (CONTROL.test(cell)) throw this.#refusal(line, 'holds a control character', name);
    switch (column.holds) {
      case 'text':
        return cell;
      case 'list':
        return this.#parts(cell, ',', name, line);
      case 'forms':
        return this.#parts(cell, '|', name, line);
      case 'choice':
        if (column.of.includes(cell)) return cell;
        throw this.#refusal(line, `is "${cell}"; allowed: ${column.of.join(', ')}`, name);
      case 'number': {
        const { from, to } = column;
        const number = /^\d{1,3}$/.test(cell) ? Number(cell) : Number.NaN;
        if (number >= from && number <= to) return number;
        throw this.#refusal(line, `is "${cell}"; allowed: a whole number from ${from} to ${to}`, name);
      }
    }
  }

  /** A backslash before the mark keeps it: `1\,5` is one part. */
  #parts(cell: string, mark: ',' | '|', name: string, line: number): readonly string[] {
    const plain = cell.includes('\\') ? [''] : cell.split(mark).map((part) => part.trim());
    if (!plain.includes('')) return plain;
    const parts = [''];
    for (let at = 0; at < cell.length; at++) {
      const isKept = cell[at] === '\\' && cell[at + 1] === mark;
      if (isKept) at++;
      if (cell[at] === mark && !isKept) parts.push('');
      else parts[parts.length - 1] += cell[at] ?? '';
    }
    const trimmed = parts.map((part) => part.trim());
    if (!trimmed.includes('')) return trimmed;
    throw this.#refusal(
      line,
      `has an empty part beside a "${mark}"; write \\${mark} for the sign itself`,
      name,
    );
  }

  /** Conditions on two columns of a row. */
  #checkWhole({ written, code, signs, said, manner, kind, set }: Values, line: number): void {
    if (this.#class === 'currencies') {
      if (code === undefined && signs === undefined) throw this.#refusal(line, 'needs signs or a code');
      if (typeof code === 'string' && !/^[A-Z]{3,8}$/.test(code)) {
        throw this.#refusal(line, `is "${code}"; allowed: 3 to 8 capitals such as EUR`, 'code');
      }
    }
    if (this.#class === 'cue-words') this.#checkCue(kind, set, line);
    if (this.#class === 'spoken') this.#checkStars(String(written), String(said), line);
    const isSilent = this.#class === 'patterns' && said === undefined && manner === undefined;
    if (isSilent && !String(written).startsWith('id:')) {
      throw this.#refusal(line, 'needs said, a manner, or both');
    }
  }

  /** Each star makes the search in a text up to 60 times as long. */
  #checkStars(written: string, said: string, line: number): void {
    const [stars = 0, kept = 0] = [written, said].map((words) => words.split('*').length - 1);
    if (stars > 1) throw this.#refusal(line, 'has more than one star', 'written');
    if (kept > stars) throw this.#refusal(line, 'has a star more than the column "written"', 'said');
  }

  #checkCue(kind: Value, set: Value, line: number): void {
    if ((kind === undefined) === (set === undefined)) throw this.#refusal(line, 'needs a kind or a set');
    if (set !== undefined && this.#source.needsHeader !== true)
      throw this.#refusal(line, 'is for tables of the package', 'set');
  }

  /** `{n}` in what is said needs a pattern; other braces have no meaning. */
  #checkBraces(values: Values, line: number): void {
    const isFilled = [values['written'] ?? []].flat().some((form) => isPattern(String(form)));
    for (const name of ['said', 'forms', 'minor']) {
      const cell = [values[name] ?? []].flat().join('|');
      const brace = /\{[^{}]*\}?/.exec(isFilled ? cell.replaceAll(/\{[nd]\}/g, '') : cell)?.[0];
      if (brace === undefined) continue;
      const use = '{n} is a number of a pattern in the column "written"';
      throw this.#refusal(line, `has "${brace}", which has no meaning there; ${use}`, name);
    }
  }

  #checkPatterns({ written, said, manner }: Values, line: number): void {
    const isOnly = this.#class === 'patterns';
    const allowed = ['units', 'patterns', ...PATTERN_CLASSES];
    for (const form of [written ?? []].flat()) {
      if (typeof form !== 'string' || (!isOnly && !isPattern(form))) continue;
      if (!allowed.includes(this.#class)) {
        const where = allowed.join(', ');
        throw this.#refusal(line, `has the pattern "${form}"; patterns may stand in ${where}`, 'written');
      }
      const pattern = parsePattern(form);
      if (typeof pattern === 'string') throw this.#refusal(line, pattern, 'written');
      if (typeof said !== 'string') continue;
      const problem = spokenProblem(pattern, said, manner !== undefined || pattern.isIdentifier);
      if (problem !== undefined) throw this.#refusal(line, problem, 'said');
    }
  }

  /** No other row may have the same entries in the same scope. */
  #claimAll({ written, signs, code, when, behind, place, kind, set, use }: Values, line: number): void {
    const words = Array.isArray(behind) ? behind.join(' ') : '';
    const scope = `${String(when ?? place ?? kind ?? set ?? use ?? '')} ${words}`;
    for (const cell of [written, signs]) {
      if (typeof cell === 'string') this.#claim(scope, cell, line);
      else if (typeof cell === 'object') for (const entry of cell) this.#claim(scope, entry, line);
    }
    if (this.#class === 'currencies' && typeof code === 'string') this.#claim('code', code, line);
  }

  #claim(scope: string, entry: string, line: number): void {
    let lines = this.#lines.get(scope);
    if (lines === undefined) this.#lines.set(scope, (lines = new Map()));
    const before = lines.get(entry);
    if (before === undefined) {
      lines.set(entry, line);
      return;
    }
    const where = before === line ? ' twice' : `, which line ${before} has too`;
    throw this.#refusal(line, `has "${entry}"${where}`);
  }

  #refusal(line: number, what: string, column?: string): ParleyError {
    const { name, code } = this.#source;
    const place = column === undefined ? '' : `, column "${column}"`;
    return new ParleyError(code, `${name}, line ${line}${place}: ${what}`, { field: name });
  }
}

/** A line that is blank or a comment. The sign # before a tab or a comma is a written form. */
function isBlank(line: string): boolean {
  return line.trim() === '' || line === '#' || line.startsWith('# ') || line.startsWith('##');
}

function withoutEmptyEnd(cells: readonly string[]): readonly string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);
}

// Shows the progress of a pull: one line that is drawn again on a terminal, a line for each tenth elsewhere.
import type { Time } from '../time.js';
import type { PullProgress } from './pull.js';
import type { RemoteFile } from './retrying-http.js';

const DRAW_MS = 100;
const RATE_MS = 5000; // the rate is that of the last seconds
const BAR = 20; // cells
const LEAST_COLUMNS = 40;

interface Screen {
  readonly write: (text: string) => void;
  /** Undefined: no terminal. */
  readonly columns: number | undefined;
}

export class ProgressLine implements PullProgress {
  readonly #screen: Screen;
  readonly #time: Time;
  readonly #present = new Map<RemoteFile, number>();
  #total = 0;
  #tenths = 0;
  #drawnMs = -Infinity;
  #hasLine = false;
  #marks: { readonly ms: number; readonly bytes: number }[] = [];

  constructor(screen: Screen, time: Time) {
    this.#screen = screen;
    this.#time = time;
  }

  started(files: readonly RemoteFile[], missing: readonly RemoteFile[]): void {
    this.#total = sum(files.map(({ size }) => size));
    this.#present.clear();
    this.#marks = [];
    for (const file of files) this.#present.set(file, missing.includes(file) ? 0 : file.size);
    const whole = `${files.length} files, ${megabytes(this.#total)}`;
    const rest = missing.length === files.length ? '' : `; ${files.length - missing.length} are complete`;
    this.note(`${whole}${rest}`);
    this.#tenths = this.#tenthsDone();
  }

  advanced(file: RemoteFile, present: number): void {
    const now = this.#time.now();
    const before = this.#present.get(file) ?? 0;
    this.#present.set(file, present);
    const bytes = this.#sum();
    // A file that begins again, or bytes of an earlier run, are no part of the rate.
    if (present < before || this.#marks.length === 0) this.#marks = [{ ms: now, bytes }];
    if (this.#screen.columns === undefined) return this.#line();
    if (now - this.#drawnMs < DRAW_MS) return;
    this.#drawnMs = now;
    this.#marks = [
      ...this.#marks.filter(({ ms }, index, all) => index === all.length - 1 || now - ms <= RATE_MS),
      { ms: now, bytes },
    ];
    this.#draw(file, present);
  }

  finished(file: RemoteFile): void {
    if (this.#screen.columns !== undefined) this.note(`${file.path}  ${megabytes(file.size)}  verified`);
  }

  /** Writes a line above the bar. */
  note(text: string): void {
    this.#screen.write(`${this.#hasLine ? '\r\x1b[K' : ''}${text}\n`);
    this.#hasLine = false;
  }

  /** Removes the bar. */
  end(): void {
    if (this.#hasLine) this.#screen.write('\r\x1b[K');
    this.#hasLine = false;
  }

  #draw(file: RemoteFile, present: number): void {
    const [bytes, total] = [this.#sum(), this.#total];
    const filled = Math.floor((bytes / total) * BAR);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`;
    const own = `${file.path} ${percent(present, file.size)}`;
    const line = `${bar} ${percent(bytes, total)}  ${megabytes(bytes)} of ${megabytes(total)}${this.#rate(bytes)}  ${own}`;
    const most = Math.max(this.#screen.columns ?? 0, LEAST_COLUMNS) - 1;
    this.#screen.write(`\r\x1b[K${line.slice(0, most)}`);
    this.#hasLine = true;
  }

  #rate(bytes: number): string {
    const first = this.#marks[0];
    const ms = first === undefined ? 0 : this.#time.now() - first.ms;
    if (first === undefined || ms <= 0 || bytes <= first.bytes) return '';
    const perSecond = ((bytes - first.bytes) / ms) * 1000;
    return `  ${megabytes(perSecond)}/s  ${duration((this.#total - bytes) / perSecond)} left`;
  }

  #line(): void {
    const tenths = this.#tenthsDone();
    if (tenths <= this.#tenths) return;
    this.#tenths = tenths;
    this.note(`${tenths * 10} %  ${megabytes(this.#sum())} of ${megabytes(this.#total)}`);
  }

  #tenthsDone(): number {
    return this.#total === 0 ? 10 : Math.floor((this.#sum() / this.#total) * 10);
  }

  #sum(): number {
    return sum([...this.#present.values()]);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.floor((part / whole) * 100)} %`;
}

export function megabytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

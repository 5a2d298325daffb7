// Answers to GET requests that may be used again (RFC 9111): a fresh one without asking, a stale one when the
// server says that it has not changed. The least recently used answers are dropped first.
import type { IncomingHttpHeaders } from 'node:http';

export interface CachedAnswer {
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

interface Entry extends CachedAnswer {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Time until which nobody has to ask, in milliseconds of the clock. */
  readonly freshUntilMs: number;
}

export type Found =
  | { readonly kind: 'fresh'; readonly answer: CachedAnswer }
  /** Header fields that ask whether the answer has changed. */
  | { readonly kind: 'stale'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'none' };

const MOST_FRESH_SECONDS = 24 * 3600;
const ENTRY_OVERHEAD = 512; // bytes, about

export class AnswerCache {
  readonly #mostBytes: number;
  readonly #entries = new Map<string, Entry>(); // least recently used first
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  find(url: string, nowMs: number): Found {
    const entry = this.#entries.get(url);
    if (entry === undefined) return { kind: 'none' };
    this.#entries.delete(url);
    this.#entries.set(url, entry);
    if (nowMs < entry.freshUntilMs) return { kind: 'fresh', answer: entry };
    const { etag, lastModified } = entry;
    return {
      kind: 'stale',
      headers: {
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
        ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
      },
    };
  }

  /** The server says that the answer has not changed. Undefined if it was dropped meanwhile. */
  confirm(url: string, headers: IncomingHttpHeaders, nowMs: number): CachedAnswer | undefined {
    const entry = this.#entries.get(url);
    if (entry === undefined) return undefined;
    const changed = { ...entry, freshUntilMs: nowMs + freshMs(headers) };
    this.#entries.set(url, changed);
    return changed;
  }

  /** Keeps an answer with status 200, if its header fields allow it. */
  keep(url: string, headers: IncomingHttpHeaders, body: Buffer, nowMs: number): void {
    this.#drop(url);
    const { etag, 'last-modified': lastModified, 'content-type': contentType } = headers;
    const lifetimeMs = freshMs(headers);
    const isUsable = lifetimeMs > 0 || etag !== undefined || lastModified !== undefined;
    if (!isUsable || isForbidden(headers) || sizeOf(url, body) > this.#mostBytes) return;
    this.#entries.set(url, { contentType, body, etag, lastModified, freshUntilMs: nowMs + lifetimeMs });
    this.#bytes += sizeOf(url, body);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    const entry = this.#entries.get(url);
    if (entry === undefined) return;
    this.#entries.delete(url);
    this.#bytes -= sizeOf(url, entry.body);
  }
}

function sizeOf(url: string, body: Buffer): number {
  return body.length + 2 * url.length + ENTRY_OVERHEAD;
}

/** The cache is one for all calls. */
function isForbidden({
  'cache-control': control = '',
  vary,
  'set-cookie': cookies,
}: IncomingHttpHeaders): boolean {
  return /\b(?:no-store|private)\b/i.test(control) || vary === '*' || cookies !== undefined;
}

/** Milliseconds for which an answer is fresh: Cache-Control, else Expires; 0 without either. */
function freshMs({ 'cache-control': control, age = '0', expires, date }: IncomingHttpHeaders): number {
  const seconds = control === undefined ? secondsBetween(date, expires) : maxAge(control);
  const left = Math.min(seconds, MOST_FRESH_SECONDS) - (/^\d{1,9}$/.test(age) ? Number(age) : 0);
  return Math.max(0, left * 1000);
}

function maxAge(control: string): number {
  if (/\bno-cache\b/i.test(control)) return 0;
  const [, seconds] = /\bs-maxage=(\d{1,9})/i.exec(control) ?? /\bmax-age=(\d{1,9})/i.exec(control) ?? [];
  return Number(seconds ?? 0);
}

function secondsBetween(from: string | undefined, to: string | undefined): number {
  const seconds = (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000;
  return Number.isNaN(seconds) ? 0 : seconds;
}

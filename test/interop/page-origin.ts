// A loopback web server of an origin of its own, whose pages call Parley across origins with the WHIP and
// WHEP clients of other makers. A test drives a page by its browser's driver, or the page asks for work here.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { once } from 'node:events';

/** A page in which a test evaluates expressions; promises are awaited there. */
export interface EvaluatingPage {
  evaluate<T>(expression: string): Promise<T>;
}

const load = createRequire(import.meta.url);
const PAGE = readFileSync(new URL('../../../test/interop/whip-page.js', import.meta.url));
const WHIP_WHEP = dirname(load.resolve('whip-whep/package.json'));
const FILES: Readonly<Record<string, () => Buffer | string>> = {
  '/whip.js': () => readFileSync(join(WHIP_WHEP, 'whip.js')),
  '/whep.js': () => readFileSync(join(WHIP_WHEP, 'whep.js')),
  '/eyevinn.js': () => `${bundle('@eyevinn/whip-web-client')}\nexport const { WHIPClient } = entry;`,
  '/page.js': () => PAGE,
};
/** Asks for expressions until its page is closed. */
const WORKER = `
for (;;) {
  const { id, expression } = await (await fetch('/work')).json();
  const done = (answer) => fetch('/done', { method: 'POST', body: JSON.stringify({ id, ...answer }) });
  await Promise.resolve()
    .then(() => (0, eval)(expression))
    .then((value) => done({ value }), (error) => done({ error: String(error) }));
}`;

interface Work {
  readonly expression: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class PageOrigin implements EvaluatingPage {
  readonly url: string;
  readonly #server: Server;
  readonly #limitMs: number;
  readonly #works: Work[] = [];
  /** Index of the next work that the page will get. */
  #next = 0;
  #waiting: ServerResponse | undefined;

  private constructor(server: Server, limitMs: number) {
    this.#server = server;
    this.#limitMs = limitMs;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** An expression of `evaluate` may take at most `limitMs`. */
  static async open(limitMs = 30_000): Promise<PageOrigin> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PageOrigin(server, limitMs);
  }

  /** Page that asks for the work of `evaluate`. */
  get workingUrl(): string {
    return `${this.url}/working`;
  }

  /** Evaluates in the working page, one expression at a time. */
  evaluate<T>(expression: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(
        () => reject(new Error(`no answer within ${this.#limitMs} ms: ${expression}`)),
        this.#limitMs,
      );
      this.#works.push({
        expression,
        resolve: (value) => (clearTimeout(limit), resolve(value as T)),
        reject: (error) => (clearTimeout(limit), reject(error)),
      });
      this.#handOut();
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '' } = request;
    const file = FILES[path];
    if (file !== undefined) return void response.setHeader('content-type', 'text/javascript').end(file());
    if (path === '/work') {
      this.#waiting = response;
      return this.#handOut();
    }
    if (path === '/done') {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      response.end();
      return this.#done(Buffer.concat(parts).toString());
    }
    const worker = path === '/working' ? WORKER : '';
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><title>caller</title><script type="module">import '/page.js';${worker}</script>`,
    );
  }

  #handOut(): void {
    const work = this.#works[this.#next];
    if (work === undefined || this.#waiting === undefined) return;
    this.#waiting.end(JSON.stringify({ id: this.#next++, expression: work.expression }));
    this.#waiting = undefined;
  }

  #done(answer: string): void {
    const { id, value, error } = JSON.parse(answer) as { id: number; value?: unknown; error?: string };
    const work = this.#works[id];
    if (error === undefined) work?.resolve(value);
    else work?.reject(new Error(error));
  }
}

/** A CommonJS package with what it requires, as a script that leaves its exports in `entry`. */
function bundle(name: string): string {
  const modules = new Map<string, string>();
  const add = (path: string): void => {
    if (modules.has(path)) return;
    const require = createRequire(path);
    const text = readFileSync(path, 'utf8');
    const needs = [...text.matchAll(/\brequire\(["']([^"']+)["']\)/g)].map(([, needed = '']) => [
      needed,
      // A slash lets a package win over the module of Node that has its name.
      require.resolve(/^\w+$/.test(needed) ? `${needed}/` : needed),
    ]);
    const paths = JSON.stringify(Object.fromEntries(needs));
    modules.set(path, `[${paths}, function (require, module, exports) {${text}\n}]`);
    for (const [, needed = ''] of needs) add(needed);
  };
  const main = load.resolve(name);
  add(main);
  const table = [...modules].map(([path, text]) => `${JSON.stringify(path)}: ${text}`).join(',\n');
  return `const modules = {${table}}, loaded = {};
const load = (path) => {
  if (loaded[path] === undefined) {
    const [paths, run] = modules[path];
    const module = (loaded[path] = { exports: {} });
    run((name) => load(paths[name]), module, module.exports);
  }
  return loaded[path].exports;
};
const entry = load(${JSON.stringify(main)});`;
}

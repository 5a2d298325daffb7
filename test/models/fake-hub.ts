// A model hub on loopback that answers as the real one: revisions, trees in pages, files of git and of LFS.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const PAGE = 3; // entries

interface Asked {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** True if it answered. */
type Answer = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

export class FakeHub {
  readonly url: string;
  readonly asked: Asked[] = [];
  /** Answers before the hub does. */
  before: Answer = () => false;
  /** Bytes that are sent, but for those that the tree describes. */
  readonly replaced = new Map<string, Uint8Array>();
  /** Entries that the tree has besides the files. */
  extra: readonly object[] = [];
  readonly #files: Readonly<Record<string, Uint8Array>>;
  readonly #id: string;

  private constructor(server: Server, id: string, files: Readonly<Record<string, Uint8Array>>) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#id = id;
    this.#files = files;
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#answer(request, response),
    );
  }

  static async open(
    t: TestContext,
    id: string,
    files: Readonly<Record<string, Uint8Array>>,
  ): Promise<FakeHub> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return new FakeHub(server, id, files);
  }

  /** The requests for a file. */
  requestsOf(file: string): readonly Asked[] {
    return this.asked.filter(({ path }) => path.endsWith(`/${file}`));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const { range, authorization } = request.headers;
    this.asked.push({ path: pathname, range, authorization });
    if (this.before(request, response, pathname)) return;
    const api = `/api/models/${this.#id}`;
    if (
      pathname === `${api}/revision/main` ||
      pathname === `${api}/revision/v1` ||
      pathname === `${api}/revision/${COMMIT}`
    ) {
      return sendJson(response, { id: this.#id, sha: COMMIT });
    }
    if (pathname.startsWith(`${api}/revision/`)) return refuse(response, 404, 'RevisionNotFound');
    if (pathname === `${api}/tree/${COMMIT}`)
      return this.#sendTree(response, Number(searchParams.get('cursor') ?? 0));
    const [, file = ''] = pathname.split(`/${this.#id}/resolve/${COMMIT}/`);
    const content = this.replaced.get(file) ?? this.#files[file];
    if (content === undefined) return refuse(response, 404, 'RepoNotFound');
    sendPart(request, response, content);
  }

  #sendTree(response: ServerResponse, from: number): void {
    const entries = [
      ...Object.entries(this.#files).map(([path, content]) => entryOf(path, content)),
      ...this.extra,
    ];
    const next = `${this.url}/api/models/${this.#id}/tree/${COMMIT}?recursive=true&cursor=${from + PAGE}`;
    if (from + PAGE < entries.length) response.setHeader('link', `<${next}>; rel="next"`);
    sendJson(response, entries.slice(from, from + PAGE));
  }
}

/** Sends the range that is asked for, in pieces. */
export function sendPart(request: IncomingMessage, response: ServerResponse, content: Uint8Array): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const part = content.subarray(from);
  const range = from > 0 ? { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': part.length, ...range });
  response.end(part);
}

export function refuse(
  response: ServerResponse,
  status: number,
  code = 'Refused',
  headers: object = {},
): void {
  response.writeHead(status, { 'x-error-code': code, ...headers }).end('no');
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

/** Weights are stored by LFS, other files by git. */
function entryOf(path: string, content: Uint8Array): object {
  const gitOid = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const lfs = path.endsWith('.safetensors')
    ? { lfs: { oid: sha256, size: content.length, pointerSize: 134 } }
    : {};
  return { type: 'file', path, size: content.length, oid: gitOid, ...lfs };
}

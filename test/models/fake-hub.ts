// A model hub on loopback that answers as the real one: revisions, trees in pages, files of git and of LFS.
// It also stands for the server of Moonshine: files at fixed addresses, and 403 without a User-Agent.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const PAGE = 3; // entries

/** A repository at one commit. */
export interface FakeRepository {
  readonly id: string;
  readonly commit: string;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

interface Asked {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
  readonly agent: string | undefined;
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
  /** Files of Moonshine by `name/revision/file`. */
  readonly moonshine = new Map<string, Uint8Array>();
  readonly #repositories: readonly FakeRepository[];

  private constructor(server: Server, repositories: readonly FakeRepository[]) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#repositories = repositories;
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#answer(request, response),
    );
  }

  static async open(t: TestContext, id: string, files: FakeRepository['files']): Promise<FakeHub> {
    return await FakeHub.openAll(t, [{ id, commit: COMMIT, files }]);
  }

  static async openAll(t: TestContext, repositories: readonly FakeRepository[]): Promise<FakeHub> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return new FakeHub(server, repositories);
  }

  /** The requests for a file. */
  requestsOf(file: string): readonly Asked[] {
    return this.asked.filter(({ path }) => path.endsWith(`/${file}`));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const { range, authorization, 'user-agent': agent } = request.headers;
    this.asked.push({ path: pathname, range, authorization, agent });
    if (this.before(request, response, pathname)) return;
    const [, fixed] = /^\/model\/(.+)$/.exec(pathname) ?? [];
    if (fixed !== undefined) {
      if (agent === undefined || /^(?:node|Python)/.test(agent)) return refuse(response, 403);
      const bytes = this.replaced.get(fixed) ?? this.moonshine.get(fixed);
      return bytes === undefined ? refuse(response, 404) : sendPart(request, response, bytes);
    }
    const [, api, id, what, rest = ''] =
      /^\/(?:(api\/models)\/)?([^/]+\/[^/]+)\/(revision|tree|resolve)\/(.+)$/.exec(pathname) ?? [];
    const [named = '', ...path] = rest.split('/');
    const revision = named === 'main' || named === 'v1' ? COMMIT : named;
    const repository = this.#repositories.find((one) => one.id === id && one.commit === revision);
    if (repository === undefined) {
      return refuse(response, 404, what === 'revision' ? 'RevisionNotFound' : 'RepoNotFound');
    }
    if (api !== undefined && what === 'revision') return sendJson(response, { id, sha: revision });
    if (api !== undefined) {
      return this.#sendTree(response, repository, Number(searchParams.get('cursor') ?? 0));
    }
    const file = path.join('/');
    const content = this.replaced.get(file) ?? repository.files[file];
    if (content === undefined) return refuse(response, 404, 'RepoNotFound');
    sendPart(request, response, content);
  }

  #sendTree(response: ServerResponse, { id, commit, files }: FakeRepository, from: number): void {
    const entries = [
      ...Object.entries(files).map(([path, content]) => entryOf(path, content)),
      ...this.extra,
    ];
    const next = `${this.url}/api/models/${id}/tree/${commit}?recursive=true&cursor=${from + PAGE}`;
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
  const lfs = /\.(?:safetensors|onnx)$/.test(path)
    ? { lfs: { oid: sha256, size: content.length, pointerSize: 134 } }
    : {};
  return { type: 'file', path, size: content.length, oid: gitOid, ...lfs };
}

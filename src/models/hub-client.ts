// Asks a model hub: resolves revisions, lists files, opens a file at an offset.
import { ParleyError } from '../errors.js';
import { type HubModel, knownNames } from './catalog.js';
import { type HttpOptions, type OpenedFile, type RemoteFile, RetryingHttp } from './retrying-http.js';

const MOST_PAGES = 100;
const MOST_JSON_BYTES = 16 * 1024 * 1024;

export interface HubOptions extends HttpOptions {
  /** The http(s) address of the hub. */
  readonly endpoint: string;
  /** Undefined: the hub is asked without a token. */
  readonly token: string | undefined;
}

export class HubClient {
  readonly #endpoint: string;
  readonly #token: string | undefined;
  readonly #http: RetryingHttp;

  /** Throws CONFIG_INVALID for an endpoint or a token that cannot be used. */
  constructor(options: HubOptions) {
    this.#endpoint = checkedEndpoint(options.endpoint, 'HF_ENDPOINT');
    this.#token = options.token;
    if (options.token !== undefined && !/^[\x21-\x7e]+$/.test(options.token)) {
      throw new ParleyError('CONFIG_INVALID', 'HF_TOKEN must consist of visible ASCII characters', {
        field: 'HF_TOKEN',
      });
    }
    const server = { endpoint: this.#endpoint, token: options.token, name: 'the hub', lister: 'the hub' };
    this.#http = new RetryingHttp(server, options);
  }

  get http(): RetryingHttp {
    return this.#http;
  }

  /** The commit that a revision names now. */
  async commitOf(model: HubModel): Promise<string> {
    const { body } = await this.#json(model, `${this.#api(model)}/revision/${revisionPath(model)}`);
    const sha = (body as { sha?: unknown } | null)?.sha;
    if (typeof sha === 'string' && /^[0-9a-f]{40}$/.test(sha)) return sha;
    throw malformed(`names no commit for ${model.id}`);
  }

  /** All files of a commit. */
  async files(model: HubModel, commit: string): Promise<readonly RemoteFile[]> {
    const found: RemoteFile[] = [];
    let url: string | undefined = `${this.#api(model)}/tree/${commit}?recursive=true`;
    for (let page = 0; url !== undefined; page++) {
      if (page === MOST_PAGES) throw malformed(`lists more than ${MOST_PAGES} pages of files`);
      const { body, next }: JsonAnswer = await this.#json(model, url);
      if (!Array.isArray(body)) throw malformed('lists no files');
      found.push(...body.flatMap((entry) => fileOf(entry)));
      url = next;
    }
    return found;
  }

  /** Requests a file once, from an offset on. Throws a Retryable if another try may succeed. */
  async open(model: HubModel, commit: string, file: RemoteFile, from: number): Promise<OpenedFile> {
    const path = file.path.split('/').map(encodeURIComponent).join('/');
    const url = `${this.#endpoint}/${model.id}/resolve/${commit}/${path}`;
    return await this.#http.openFile(url, file, from, (response) => this.#refusalOf(response, model));
  }

  #api({ id }: HubModel): string {
    return `${this.#endpoint}/api/models/${id}`;
  }

  #json(model: HubModel, url: string): Promise<JsonAnswer> {
    return this.#http.retried(async () => {
      const refusal = (refused: Response) => this.#refusalOf(refused, model);
      const headers = { accept: 'application/json' };
      const pageOf = (response: Response) => nextPage(response, url);
      const { inspected: next, chunks } = await this.#http.request(url, headers, refusal, pageOf);
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of chunks) {
        bytes += piece.length;
        if (bytes > MOST_JSON_BYTES) throw malformed(`sends more than ${MOST_JSON_BYTES} bytes of JSON`);
        pieces.push(piece);
      }
      return { body: parsed(Buffer.concat(pieces)), next };
    });
  }

  #refusalOf({ status, headers }: Response, model: HubModel): ParleyError {
    const token = this.#token;
    const page = `${this.#endpoint}/${model.id}`;
    if (status === 401 && token === undefined) {
      const message = `${model.id} does not exist, or needs a token: check the name, or set HF_TOKEN (${page})`;
      return new ParleyError('UNAUTHORIZED', message, { field: 'HF_TOKEN' });
    }
    if (status === 401) {
      const message = `the hub refuses the token of HF_TOKEN for ${model.id}`;
      return new ParleyError('UNAUTHORIZED', message, { field: 'HF_TOKEN' });
    }
    if (status === 403) {
      const why = token === undefined ? 'set HF_TOKEN' : 'the account of HF_TOKEN has no access';
      const message = `${model.id} is not open to everybody: ${why}; request access at ${page}`;
      return new ParleyError('FORBIDDEN', message, { field: 'HF_TOKEN' });
    }
    if (status === 404) return missing(model, headers.get('x-error-code'));
    return new ParleyError('DOWNLOAD_FAILED', `the hub answers with status ${status}`);
  }
}

interface JsonAnswer {
  readonly body: unknown;
  readonly next: string | undefined;
}

/** The address without a slash at its end. Throws CONFIG_INVALID. */
export function checkedEndpoint(text: string, variable: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url !== undefined && /^https?:$/.test(url.protocol) && isPlain) return url.href.replace(/\/+$/, '');
  const message = `${variable} must be an http(s) address without user, query and fragment`;
  throw new ParleyError('CONFIG_INVALID', message, { field: variable });
}

function missing({ id, revision }: HubModel, code: string | null): ParleyError {
  const message =
    code === 'RevisionNotFound'
      ? `${id} has no revision ${revision}`
      : `the hub has no model ${id} (revision ${revision}); known short names: ${knownNames()}`;
  return new ParleyError('MODEL_UNKNOWN', message, { field: 'NAME' });
}

function malformed(what: string): ParleyError {
  return new ParleyError('MALFORMED', `the hub ${what}`);
}

function revisionPath({ revision }: HubModel): string {
  return encodeURIComponent(revision);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw malformed('sends something that is no JSON; is HF_ENDPOINT the address of a hub?');
  }
}

/** The address of the next page of a list (RFC 8288). */
function nextPage({ headers }: Response, url: string): string | undefined {
  const [, target] = /<([^>]+)>\s*;[^,]*rel="?next"?/.exec(headers.get('link') ?? '') ?? [];
  return target !== undefined && URL.canParse(target, url) ? new URL(target, url).href : undefined;
}

/** Folders and links are left out. Throws MALFORMED. */
function fileOf(entry: unknown): RemoteFile | [] {
  const { type, path, size, oid, lfs } = entry as Readonly<Record<string, unknown>>;
  if (type !== 'file') return [];
  if (typeof path !== 'string' || !isSafe(path)) throw malformed(`lists a file ${JSON.stringify(path)}`);
  const stored = lfs as { oid?: unknown; size?: unknown } | undefined;
  const bytes = stored?.size ?? size;
  const digest =
    stored === undefined || stored === null
      ? ({ kind: 'git', hex: oid } as const)
      : ({ kind: 'sha256', hex: stored.oid } as const);
  const isHex = typeof digest.hex === 'string' && /^[0-9a-f]+$/.test(digest.hex);
  if (!isHex || (digest.hex as string).length !== (digest.kind === 'git' ? 40 : 64)) {
    throw malformed(`lists no checksum of ${path}`);
  }
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 0) throw malformed(`lists no size of ${path}`);
  return { path, size: bytes as number, digest: digest as RemoteFile['digest'] };
}

/** True for a relative path that leads nowhere else. */
function isSafe(path: string): boolean {
  return path.split('/').every((part) => /^[^\\:\0]{1,255}$/.test(part) && part !== '.' && part !== '..');
}

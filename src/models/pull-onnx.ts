// Fetches ONNX models: Moonshine from the server of its publisher into a folder of its own, models for the
// ends of turns from the hub at their pinned commits.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CHECKSUMS, INCOMPLETE, moonshineFolder, turnFile } from '../config/onnx-cache.js';
import type { Credit, MoonshineModel, PinnedFile, TurnModel } from '../config/onnx-catalog.js';
import { ParleyError } from '../errors.js';
import { newHash } from './blob-download.js';
import { replaced, sizeOf } from './hub-cache.js';
import { checkedEndpoint, HubClient } from './hub-client.js';
import { PullLock } from './pull-lock.js';
import { bytesOf, hubPart, type Part, type Plan, type PullOptions } from './pull.js';
import { type RemoteFile, RetryingHttp } from './retrying-http.js';

/** The line to show before the download. */
export function creditLine({ credit, licence, link }: Credit): string {
  return `${credit}, ${licence}: ${link}`;
}

/** The pull verifies files that are there and fetches damaged ones again. No server is asked before it. */
export function planMoonshine(model: MoonshineModel, endpoint: string, options: PullOptions): Plan {
  const address = checkedEndpoint(endpoint, 'MOONSHINE_ENDPOINT');
  const server = { endpoint: address, name: 'the server of Moonshine', lister: 'the catalogue' };
  const http = new RetryingHttp(server, options);
  const cached = new MoonshinePlace(options.cache, model);
  const files = model.files.map(remoteFile);
  const part: Part = {
    open: async (file, from) => {
      const url = `${address}/model/${model.folder}/${model.revision}/${file.path}`;
      return await http.openFile(url, file, from, ({ status }) => refusalOf(status, model, file));
    },
    retried: async (action, hasProgress) => await http.retried(action, hasProgress),
    lister: server.lister,
    cached,
    files,
    publish: async () => await cached.publish(files),
  };
  const pulled = { commit: model.revision, snapshot: cached.folder, bytes: bytesOf(files) };
  return { parts: [part], pulled };
}

/** The name of the blob will be the SHA-256. Rejects if the hub lists another one than is pinned. */
export async function planTurn(model: TurnModel, options: PullOptions): Promise<Plan> {
  const source = { id: model.id, revision: model.commit };
  const client = new HubClient(options);
  const commit = await client.commitOf(source);
  const file = (await client.files(source, commit)).find(({ path }) => path === model.path);
  if (file === undefined) {
    const message = `${model.id} has no file ${model.path} at ${commit}`;
    throw new ParleyError('MODEL_UNKNOWN', message, { field: 'NAME' });
  }
  const { sha256 } = model;
  if (file.digest.kind !== 'sha256' || (sha256 !== undefined && sha256 !== file.digest.hex)) {
    const message = `the hub lists the checksum ${file.digest.hex} of ${model.path}, and ${model.name} has ${sha256 ?? 'a SHA-256'}`;
    throw new ParleyError('DOWNLOAD_FAILED', message);
  }
  const parts = [hubPart(client, options.cache, { model: source, commit, files: [file] })];
  return { parts, pulled: { commit, snapshot: turnFile(options.cache, model), bytes: file.size } };
}

function remoteFile({ name, bytes, digest: { kind, text } }: PinnedFile): RemoteFile {
  const hex = kind === 'crc32c' ? Buffer.from(text, 'base64').toString('hex') : text;
  return { path: name, size: bytes, digest: { kind, hex } };
}

function refusalOf(status: number, { name, revision }: MoonshineModel, { path }: RemoteFile): ParleyError {
  const field = 'MOONSHINE_ENDPOINT';
  if (status === 404) {
    const message = `the server of Moonshine has no file ${path} of ${name} (${revision})`;
    return new ParleyError('MODEL_UNKNOWN', message, { field });
  }
  const message = `the server of Moonshine answers with status ${status}`;
  return new ParleyError('DOWNLOAD_FAILED', message, { field });
}

/** The folder of a Moonshine model in the cache. */
class MoonshinePlace {
  readonly folder: string;
  readonly id: string;
  readonly #lock: PullLock;

  constructor(cache: string, model: MoonshineModel) {
    this.folder = moonshineFolder(cache, model);
    this.id = model.name;
    this.#lock = new PullLock(join(cache, '.locks', model.name, 'parley-pull.lock'), model.name);
  }

  blob({ path }: RemoteFile): string {
    return join(this.folder, basename(path));
  }

  partial(file: RemoteFile): string {
    return `${this.blob(file)}${INCOMPLETE}`;
  }

  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
  }

  async present(file: RemoteFile): Promise<number> {
    const whole = await sizeOf(this.blob(file));
    if (whole === file.size) return whole;
    const part = (await sizeOf(this.partial(file))) ?? 0;
    return part <= file.size ? part : 0;
  }

  /** Verifies the content. A damaged file is deleted. */
  async isComplete(file: RemoteFile): Promise<boolean> {
    const path = this.blob(file);
    if ((await sizeOf(path)) === undefined) return false;
    const isGood =
      (await sizeOf(path)) === file.size && (await digestOf(path, newHash(file))) === file.digest.hex;
    if (!isGood) await rm(path);
    return isGood;
  }

  async locked<T>(action: () => Promise<T>): Promise<T> {
    return await this.#lock.locked(action);
  }

  /** Writes the list of checksums: the model is complete from that moment on. */
  async publish(files: readonly RemoteFile[]): Promise<void> {
    const lines: string[] = [];
    for (const file of files) {
      const { kind, hex } = file.digest;
      const sha256 = kind === 'sha256' ? hex : await digestOf(this.blob(file), createHash('sha256'));
      lines.push(`${sha256}  ${file.path}\n`);
    }
    await replaced(join(this.folder, CHECKSUMS), (beside) => writeFile(beside, lines.join('')));
  }
}

async function digestOf(path: string, hash: ReturnType<typeof newHash>): Promise<string> {
  for await (const bytes of createReadStream(path)) hash.update(bytes as Uint8Array);
  return hash.digest('hex');
}

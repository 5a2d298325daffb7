// Where a checkpoint lies that MODEL_ID names: a folder, or what was fetched from
// the Hugging Face hub before. Nothing is downloaded here.
//
//   <cache>/models--ORG--NAME/refs/main          the commit, as text
//   <cache>/models--ORG--NAME/snapshots/<commit> the files, as links
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What may say where the cache is. */
export type CacheEnvironment = Readonly<Record<string, string | undefined>>;

const HUB_ID = /^[\w-][\w.-]*\/[\w-][\w.-]*$/; // ORG/NAME
const PATH = /^(?:\/|\.\.?\/|~\/)/;
const REVISION = /^[\w-]+$/; // a commit; nothing that leads elsewhere

/** Whether it is meant as a folder, and can be nothing else. */
export function isPath(id: string): boolean {
  return PATH.test(id);
}

/** Whether a model of the hub may be called so. */
export function isHubId(id: string): boolean {
  return HUB_ID.test(id);
}

/** The folder of a checkpoint: what `id` is itself, or what the cache has of it; undefined where there is neither. */
export function checkpointNamed(id: string, env: CacheEnvironment): string | undefined {
  const folder = expanded(id, env);
  if (existsSync(join(folder, 'config.json'))) return folder;
  return isHubId(id) ? snapshotOf(id, env) : undefined;
}

/** Where the cache has a model, if it has it. */
export function cacheFolderOf(id: string, env: CacheEnvironment): string {
  return join(hubCache(env), `models--${id.replace('/', '--')}`);
}

function snapshotOf(id: string, env: CacheEnvironment): string | undefined {
  const folder = cacheFolderOf(id, env);
  const reference = join(folder, 'refs', 'main');
  if (!existsSync(reference)) return undefined;
  const commit = readFileSync(reference, 'utf8').trim();
  const snapshot = join(folder, 'snapshots', commit);
  return REVISION.test(commit) && existsSync(snapshot) ? snapshot : undefined;
}

/** The first of these that is set, as huggingface_hub has it. */
function hubCache(env: CacheEnvironment): string {
  const set = (name: string) => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? undefined : expanded(value, env);
  };
  const caches = set('XDG_CACHE_HOME') ?? expanded('~/.cache', env);
  const home = set('HF_HOME') ?? join(caches, 'huggingface');
  return set('HF_HUB_CACHE') ?? set('HUGGINGFACE_HUB_CACHE') ?? join(home, 'hub');
}

function expanded(path: string, env: CacheEnvironment): string {
  return path.startsWith('~/') ? join(env['HOME'] ?? homedir(), path.slice(2)) : path;
}

// Finds and loads the native addon, once per thread.
//
// The addon uses Node-API 8. The main thread and workers load the same file and share its objects by handle.
// Each caller declares in its own interface which functions it uses.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ParleyError } from './errors.js';

const BINARY = join('native', 'build', 'Release', 'parley.node');

function findBinary(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const candidate = join(folder, BINARY);
    if (existsSync(candidate)) return candidate;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new ParleyError('ADDON_MISSING', `${BINARY} is not there; build it with: npm run build:native`);
}

/** Path of a file built with the addon. */
export function fileBesideAddon(name: string): string {
  return join(dirname(findBinary()), name);
}

/** The addon's functions. `T` is the part of them that the caller's face describes. */
export function loadAddon<T>(): T {
  const binary = findBinary();
  return loadBinding(binary, 'npm run build:native', () => createRequire(import.meta.url)(binary) as T);
}

/** Returns the result of `load`. Its failure becomes one sentence with the command that fixes it. */
export function loadBinding<T>(name: string, command: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    const message = `${name} ${troubleOf(error)}; build it again with: ${command}`;
    throw new ParleyError('ADDON_MISSING', message, { cause: error });
  }
}

function troubleOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  if (message.includes('NODE_MODULE_VERSION'))
    return `was built for another version of Node.js than ${process.version}`;
  if (code === 'MODULE_NOT_FOUND') return `has no build for Node.js ${process.version}`;
  return `cannot be loaded in Node.js ${process.version} (${message.split('\n', 1)[0]})`;
}

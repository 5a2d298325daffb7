// Where the web page lies: beside package.json, whether the server runs from the
// sources or from what was compiled.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `public/` beside package.json, from the sources or from dist. */
export function pageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return join(folder, 'public');
}

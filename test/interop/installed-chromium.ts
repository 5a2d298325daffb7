// The browser that the tests start, found as setup.sh looks for it, and how they start it.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export const CHROMIUM_ARGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** CHROMIUM_PATH if that can be executed, else the first chromium on PATH. */
export function installedChromium(environment: NodeJS.ProcessEnv = process.env): string {
  const { CHROMIUM_PATH = '', PATH = '' } = environment;
  const onPath = PATH.split(delimiter).map((folder) => join(folder || '.', 'chromium'));
  const found = [...(CHROMIUM_PATH === '' ? [] : [CHROMIUM_PATH]), ...onPath].find(canBeExecuted);
  if (found === undefined) throw new Error('there is no chromium: run ./setup.sh full, or set CHROMIUM_PATH');
  return found;
}

function canBeExecuted(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

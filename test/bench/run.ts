// Runs one bench or soak by its name. The package's scripts compile the sources first; this program compiles
// the addon where the bench loads it.
//
//   npm run bench                      lists the benches
//   npm run bench -- pacing --quick    runs one; the words after its name are its own
//   npm run soak -- sip                runs one that shows whether the server stays as it was
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { argvOf, isKind, listOf, pathOf, programOf } from './programs.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const EXIT_USAGE = 64; // EX_USAGE of sysexits.h

function refuse(message: string): never {
  process.stderr.write(message);
  process.exit(EXIT_USAGE);
}

/** Ends this program with the compiler's status if the addon cannot be compiled. */
function compileAddon(): void {
  const { status } = spawnSync('npm', ['run', '-s', 'build:native'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const [node = '', , kind, name, ...args] = process.argv;
if (!isKind(kind)) refuse('usage: node dist/test/bench/run.js bench|soak [NAME [ARGUMENT...]]\n');

if (name === undefined) {
  process.stdout.write(listOf(kind));
} else {
  const program = programOf(kind, name);
  if (program === undefined) {
    refuse(`There is no ${kind} of the name ${JSON.stringify(name)}. Allowed are:\n${listOf(kind)}`);
  }
  if (program.addon) compileAddon();
  process.argv = argvOf(program, node, args);
  await import(pathToFileURL(pathOf(program)).href);
}

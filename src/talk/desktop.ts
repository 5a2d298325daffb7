// The person's machine as `parley talk` uses it: the terminal that answers questions, the browser, free ports
// and the addresses of the machine.
import { spawn, type SpawnOptions } from 'node:child_process';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import type { Time } from '../time.js';

/** Resolves with the line that the person writes; undefined at Ctrl-C or the end of the input. */
export async function askAtTerminal(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string | undefined> {
  const lines = createInterface({ input, output });
  try {
    return await new Promise((resolve) => {
      lines.once('close', () => resolve(undefined)).once('SIGINT', () => lines.close());
      lines.question(question, resolve);
    });
  } finally {
    lines.close();
  }
}

/** Starts a program, and does not wait for its end. */
type Start = (command: string, args: readonly string[], options: SpawnOptions) => Started;

interface Started {
  once(event: 'error', listener: () => void): unknown;
  once(event: 'exit', listener: (status: number | null) => void): unknown;
  unref(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A program that opens a browser fails within this time, or it has opened one. */
const OPENED_MS = 2000;

interface Desktop {
  readonly env: Environment;
  readonly time: Time;
  readonly platform?: NodeJS.Platform;
  readonly start?: Start;
}

/** Resolves with false if there is no browser: no screen, no program that opens one, or one that fails. */
export async function openBrowser(
  url: string,
  { env, time, platform = process.platform, start = spawn }: Desktop,
): Promise<boolean> {
  const [command, ...args] = openerOf(platform, env);
  if (command === undefined) return false;
  const child = start(command, [...args, url], { detached: true, stdio: 'ignore' });
  child.unref();
  return await new Promise((resolve) => {
    const end = (isOpened: boolean) => {
      cancelTimer();
      resolve(isOpened);
    };
    const cancelTimer = time.after(OPENED_MS, () => end(true));
    child.once('error', () => end(false));
    child.once('exit', (status) => end(status === 0));
  });
}

function openerOf(platform: NodeJS.Platform, env: Environment): readonly string[] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['cmd', '/c', 'start', ''];
  const hasScreen = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some((display) => (display ?? '') !== '');
  return hasScreen ? ['xdg-open'] : [];
}

/** True if a server can listen there now. */
export async function isFreePort(host: string, port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** The addresses of this machine, as URLs write them. */
export function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));
}

// Listening on a Unix socket: who may connect is said by the file's mode, and a
// file that a dead server left behind is no hindrance, a living server is.
import { lstat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { ParleyError } from '../../errors.js';

const MASK = 0o117; // owner and group may connect: 0660
const ANSWER_MS = 1000;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'there is no such folder, or the system does not allow it', // libuv has one code for both
  EADDRINUSE: 'another program listens there',
};

/** Resolves when `server` listens there; CONFIG_INVALID when it cannot. */
export async function listenUnix(server: Server, path: string): Promise<void> {
  try {
    await bind(server, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw refusal(path, reasonOf(error), error);
    await removeStale(path);
    await bind(server, path).catch((second: unknown) => {
      throw refusal(path, reasonOf(second), second);
    });
  }
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      server.off('listening', done);
      reject(error);
    };
    const done = () => {
      server.off('error', failed);
      resolve();
    };
    server.once('error', failed).once('listening', done);
    // The file is made within listen(): with the mask there is no moment at which others may connect.
    const before = process.umask(MASK);
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  });
}

async function removeStale(path: string): Promise<void> {
  if (!(await lstat(path)).isSocket()) throw refusal(path, 'there is a file that is no socket');
  if (await isAnswered(path)) throw refusal(path, 'another program listens there');
  await unlink(path);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: ANSWER_MS });
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(true)); // busy is not dead
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code !== 'ECONNREFUSED'));
  });
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? code ?? message;
}

function refusal(path: string, why: string, cause?: unknown): ParleyError {
  const details = cause === undefined ? { field: 'UDS_PATH' } : { field: 'UDS_PATH', cause };
  return new ParleyError('CONFIG_INVALID', `cannot listen on UDS_PATH=${path}: ${why}`, details);
}

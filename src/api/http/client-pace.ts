// The pace of a client: what waits for one that reads slowly, and ends with one
// that left.
import type { FastifyReply } from 'fastify';
import { ParleyError } from '../../errors.js';

/** Aborts when the client leaves, or has its answer. */
export function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

export function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new ParleyError('ABORTED', 'the client left or the server is closing');
}

/** Resolves when there is room to write; rejects when the client took nothing for too long, or with the signal. */
export function drained(raw: FastifyReply['raw'], stallMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: ParleyError) => {
      clearTimeout(timer);
      raw.off('drain', ready);
      signal.removeEventListener('abort', aborted);
      if (error === undefined) resolve();
      else reject(error);
    };
    const ready = () => settle();
    const aborted = () => settle(new ParleyError('ABORTED', 'the client left or the server is closing'));
    const timer = setTimeout(
      () => settle(new ParleyError('TIMEOUT', `the client read nothing for ${stallMs} ms`)),
      stallMs,
    );
    raw.on('drain', ready);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
  });
}

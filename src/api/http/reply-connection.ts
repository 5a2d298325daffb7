// Watches the connection that one reply goes out on: whether its client has left, reads too slowly or has
// waited too long, and how to break the reply off. HTTP/1 and HTTP/2 report these differently.
import type { FastifyReply } from 'fastify';
import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import { ParleyError } from '../../errors.js';

/** The type of fastify's `reply.raw`. */
type RawReply = ServerResponse | Http2ServerResponse;

/** Aborts when the client leaves, or when its reply is complete. */
export function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

/** True if the client can no longer receive the reply. */
export function isGone(raw: RawReply): boolean {
  return streamOf(raw)?.destroyed ?? (raw as ServerResponse).destroyed;
}

/** True if a reply was cut short, even though it emitted `finish`: HTTP/2 emits that in any case. */
export function brokeOff(raw: RawReply): boolean {
  const stream = streamOf(raw);
  if (stream === undefined) return false;
  return !raw.writableEnded || stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
}

/**
 * Breaks a reply off so that no client takes it for complete. HTTP/1 closes the connection. HTTP/2 resets the
 * stream with an error, because a stream that is merely destroyed looks like one that ended.
 */
export function breakOff(raw: RawReply): void {
  const stream = streamOf(raw);
  if (stream === undefined) raw.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

export function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw aborted();
}

/**
 * Resolves when there is room to write. Rejects when the client reads nothing for `stallMs`, or when aborted.
 */
export function drained(raw: FastifyReply['raw'], stallMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: ParleyError) => {
      clearTimeout(timer);
      raw.off('drain', ready);
      signal.removeEventListener('abort', abort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const ready = () => settle();
    const abort = () => settle(aborted());
    const timer = setTimeout(
      () => settle(new ParleyError('TIMEOUT', `the client read nothing for ${stallMs} ms`)),
      stallMs,
    );
    raw.on('drain', ready);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

function aborted(): ParleyError {
  return new ParleyError('ABORTED', 'the client left or the server is closing');
}

function streamOf(raw: RawReply): Http2ServerResponse['stream'] | undefined {
  return 'stream' in raw ? raw.stream : undefined;
}

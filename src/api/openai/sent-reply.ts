// What became of an answer on the wire, where the two versions of HTTP differ.
import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';

/** What fastify hands out as `reply.raw`. */
type RawReply = ServerResponse | Http2ServerResponse;

function streamOf(raw: RawReply): Http2ServerResponse['stream'] | undefined {
  return 'stream' in raw ? raw.stream : undefined;
}

/** Whether an answer that emitted `finish` was broken off all the same: HTTP/2 emits it in any case. */
export function brokeOff(raw: RawReply): boolean {
  const stream = streamOf(raw);
  if (stream === undefined) return false;
  return !raw.writableEnded || stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
}

/** Whether nobody is there any more to take the answer. */
export function isGone(raw: RawReply): boolean {
  return streamOf(raw)?.destroyed ?? (raw as ServerResponse).destroyed;
}

/**
 * Breaks an answer off so that no client takes it for whole: HTTP/1 by the end of the connection, HTTP/2 by an
 * error of the one stream, since a stream that is merely destroyed looks like one that ended.
 */
export function breakOff(raw: RawReply): void {
  const stream = streamOf(raw);
  if (stream === undefined) raw.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

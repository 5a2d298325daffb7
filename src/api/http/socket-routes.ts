// An ordinary GET where a WebSocket lives, or one over HTTP/2, which has no
// upgrade: it is told what to ask for.
import type { FastifyInstance } from 'fastify';
import { routePattern, type Dialect } from './socket-dialect.js';
import { UPGRADE_REQUIRED } from './socket-refusal.js';

export function addSocketRoutes(app: FastifyInstance, dialects: readonly Dialect[]): void {
  const { status, headers, body } = UPGRADE_REQUIRED;
  for (const { path } of dialects) {
    app.get(routePattern(path), ({ raw }, reply) => {
      // HTTP/2 knows no such headers (RFC 9113, section 8.2.2).
      if (raw.httpVersionMajor === 1) reply.headers({ ...headers, connection: 'upgrade' });
      return reply.code(status).send(body);
    });
  }
}

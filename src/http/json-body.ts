// The bodies that are read here unless a route says otherwise: JSON. A body of
// no bytes is none, whatever its header says: some clients name a type always.
import type { FastifyInstance } from 'fastify';

/** For all routes that are added after it, and ask for no parser of their own. */
export function addJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null);
    else void parse(request, body.toString(), done);
  });
}

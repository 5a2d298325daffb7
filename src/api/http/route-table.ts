// Answers requests for addresses and methods that have no route. fastify answers 404 to a wrong path and a
// wrong method alike; this server answers 405 to a wrong method.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorBody } from './error-reply.js';

/** The methods of each path. */
export class RouteTable {
  readonly #routes = new Map<
    string,
    { readonly segments: readonly string[]; readonly methods: Set<string> }
  >();

  /** `pattern` has the syntax of fastify's router: `/v1/realtime/calls/:id`. */
  add(pattern: string, methods: string | readonly string[]): void {
    const route = this.#routes.get(pattern) ?? { segments: pattern.split('/'), methods: new Set<string>() };
    for (const method of [methods].flat()) route.methods.add(method);
    this.#routes.set(pattern, route);
  }

  answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const methods = this.#methodsOf(request.url);
    if (methods.length === 0) {
      return reply.code(404).send(errorBody(404, 'not_found', 'there is nothing under this URL'));
    }
    const allow = [...new Set([...methods, 'OPTIONS'])].sort().join(', ');
    reply.header('allow', allow);
    if (request.method === 'OPTIONS') return reply.code(204).send();
    const message = `this URL does not take ${request.method}; it takes ${allow}`;
    return reply.code(405).send(errorBody(405, 'method_not_allowed', message));
  }

  /** The methods of a path, sorted; empty if there is no such path. */
  #methodsOf(url: string): string[] {
    const path = (url.split('?', 1)[0] ?? '').split('/');
    const routes = [...this.#routes.values()].filter(({ segments }) => matches(segments, path));
    return [...new Set(routes.flatMap(({ methods }) => [...methods]))].sort();
  }
}

function matches(segments: readonly string[], path: readonly string[]): boolean {
  if (segments.length !== path.length) return false;
  return segments.every((segment, index) => {
    return segment.startsWith(':') ? path[index] !== '' : segment === path[index];
  });
}

// What the routes of the REST API read of a request.
import type { FastifyRequest } from 'fastify';
import { RestForm } from './rest-form.js';

/** The query as it is written: `StartTime<` is a name. */
export function queryOf({ raw }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(raw.url ?? '')?.[1] ?? '');
}

export function formOf({ body }: FastifyRequest): RestForm {
  return RestForm.parse(typeof body === 'string' ? body : '');
}

/** The address of this server, as the client has it. */
export function originOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`;
}

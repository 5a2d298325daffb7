// Reads the requests of the REST API.
import type { FastifyRequest } from 'fastify';
import type { IvrConfig } from '../../config/ivr-config.js';
import { RestForm } from './rest-form.js';

/** The query as it is written: `StartTime<` is a name. */
export function queryOf({ raw }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(raw.url ?? '')?.[1] ?? '');
}

export function formOf({ body }: FastifyRequest): RestForm {
  return RestForm.parse(typeof body === 'string' ? body : '');
}

/** The address of this server: PUBLIC_URL, or the one that the client has used. */
export function originOf(
  { protocol, host }: FastifyRequest,
  { publicUrl }: Pick<IvrConfig, 'publicUrl'>,
): string {
  return publicUrl ?? `${protocol}://${host}`;
}

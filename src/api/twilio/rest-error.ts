// Errors of Twilio's REST API. The client library reads code, message and more_info of the body.
// https://www.twilio.com/docs/usage/twilios-response
import { isHidden, ParleyError } from '../../errors.js';
import { errorReply } from '../http/error-reply.js';

/** A request that this server refuses under a number of Twilio. */
export class RestError extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.name = 'RestError';
    this.status = status;
    this.code = code;
  }
}

/** Numbers of Twilio: https://www.twilio.com/docs/api/errors */
export const NUMBERS = {
  unauthorized: 20003,
  wrongMethod: 20004,
  forbidden: 20006,
  inProgress: 20009,
  notFound: 20404,
  invalidParameter: 20422,
  noTo: 21201,
  invalidUrl: 21205,
  invalidDigits: 21206,
  invalidTimeout: 21208,
  invalidMethod: 21209,
  invalidTo: 21211,
  invalidFrom: 21212,
  forbiddenTo: 21216,
  wrongState: 21220,
  invalidCallback: 21609,
} as const;

/** By status, where the number is not 20000 and the status. */
const BY_STATUS: Readonly<Record<number, number>> = {
  401: NUMBERS.unauthorized,
  403: NUMBERS.forbidden,
  405: NUMBERS.wrongMethod,
};
const HOW_TO_AUTHENTICATE =
  'this server requires an API key: Basic authentication with any AC… or SK… as the user and the key as the password';

export interface RestErrorBody {
  readonly code: number;
  readonly message: string;
  readonly more_info: string;
  readonly status: number;
}

interface RestErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RestErrorBody;
}

/** The answer to any error. An unexpected error reveals nothing but the id of the request. */
export function restErrorReply(error: unknown, requestId: string): RestErrorReply {
  if (error instanceof RestError) return reply(error.status, error.code, error.message);
  const { status, headers, body } = errorReply(error, requestId);
  const code = BY_STATUS[status] ?? 20_000 + status;
  // A browser that is asked for Basic authentication would send it with requests of foreign pages, too.
  const { 'www-authenticate': _asked, ...others } = headers;
  return reply(status, code, status === 401 ? HOW_TO_AUTHENTICATE : body.error.message, others);
}

function reply(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): RestErrorReply {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  return { status, headers, body: { code, message, more_info, status } };
}

/** An error of the telephone for the parameter that it is about. */
export function placingError(error: unknown): unknown {
  if (!(error instanceof ParleyError) || isHidden(error)) return error;
  const { code, field, message } = error;
  if (code === 'FORBIDDEN') return new RestError(400, NUMBERS.forbiddenTo, message);
  if (code === 'CAPABILITY_MISSING') return new RestError(400, NUMBERS.invalidUrl, message);
  if (code !== 'INVALID_FIELD') return error;
  if (field === 'to') return new RestError(400, NUMBERS.invalidTo, message);
  if (field === 'from') return new RestError(400, NUMBERS.invalidFrom, message);
  return new RestError(400, NUMBERS.invalidParameter, message);
}

export function notFound(what: string): RestError {
  return new RestError(
    404,
    NUMBERS.notFound,
    `there is no ${what} of this SID, or it belongs to another account`,
  );
}

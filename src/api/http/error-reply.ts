// Turns every error into an answer: OpenAI's error object, which its client libraries parse, over HTTP; code
// and message over WebSockets. One table decides the status of each of Parley's codes. Errors of fastify
// itself, such as a body that is not JSON or too large, are mapped here as well.
import type { FastifyReply } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  asParleyError,
  type ErrorCode,
  forClient,
  isHidden,
  lacksDescriptors,
  meaningOf,
  ParleyError,
} from '../../errors.js';

interface AnswerRule {
  readonly status: number;
  /** The code in OpenAI's error object; when absent, Parley's code in lower case. */
  readonly code?: string;
  readonly retryAfterSeconds?: number;
}

const ANSWERS: Readonly<Record<ErrorCode, AnswerRule>> = {
  ABORTED: { status: 503, retryAfterSeconds: 1 },
  ADDON_MISSING: { status: 500 },
  AGENT_FAILED: { status: 502 },
  AUDIO_INVALID: { status: 400 },
  CALL_CLOSED: { status: 503, retryAfterSeconds: 1 },
  CALL_LIMIT: { status: 503, retryAfterSeconds: 5 },
  CALL_LOOP: { status: 409 },
  CALL_STATE: { status: 409 },
  CAPABILITY_MISSING: { status: 501 },
  CLIENT_LIMIT: { status: 429, retryAfterSeconds: 5 },
  CONFIG_INVALID: { status: 500 },
  DECODER_FAILED: { status: 503, retryAfterSeconds: 5 },
  DESCRIPTORS_EXHAUSTED: { status: 503, retryAfterSeconds: 5 },
  DISK_FULL: { status: 507 },
  DOWNLOAD_FAILED: { status: 502 },
  DTLS_FAILED: { status: 502 },
  ENCODER_FAILED: { status: 500 },
  ENGINE_BUSY: { status: 503, retryAfterSeconds: 1 },
  ENGINE_FAILED: { status: 500 },
  ENGINE_LOST: { status: 503, retryAfterSeconds: 5 },
  ENGINE_UNAVAILABLE: { status: 503, retryAfterSeconds: 5 },
  EXISTS: { status: 409 },
  FINGERPRINT_MISMATCH: { status: 502 },
  FORBIDDEN: { status: 403 },
  HEARING_FAILED: { status: 500 },
  IDEMPOTENCY_MISMATCH: { status: 422 },
  INVALID_FIELD: { status: 400, code: 'invalid_value' },
  LANGUAGE_UNAVAILABLE: { status: 400 },
  LISTENER_SLOW: { status: 500 },
  MALFORMED: { status: 400 },
  MODEL_UNKNOWN: { status: 404, code: 'model_not_found' },
  NOT_FOUND: { status: 404 },
  NO_COMMON_CODEC: { status: 422 },
  OVERLOADED: { status: 503, retryAfterSeconds: 2 },
  PRECONDITION_FAILED: { status: 412 },
  PRECONDITION_REQUIRED: { status: 428 },
  QUEUE_FULL: { status: 503, retryAfterSeconds: 1 },
  RATE_LIMITED: { status: 429, code: 'rate_limit_exceeded', retryAfterSeconds: 1 },
  RECORDING_FAILED: { status: 500 },
  RECORDING_OFF: { status: 501 },
  ROOM_FULL: { status: 409 },
  SDP_INVALID: { status: 400 },
  SDP_REFUSED: { status: 422 },
  TELEPHONE_OFF: { status: 501 },
  TEXT_EMPTY: { status: 400 },
  TEXT_TOO_LONG: { status: 400 },
  TIMEOUT: { status: 504 },
  TOO_LARGE: { status: 413, code: 'body_too_large' },
  TRANSPORT_UNSUPPORTED: { status: 500 },
  TRANSLATION_FAILED: { status: 502 },
  UNAUTHORIZED: { status: 401, code: 'invalid_api_key' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  UPLOAD_STALLED: { status: 408, code: 'timeout' },
  VOICE_LIMIT: { status: 409 },
  VOICE_UNKNOWN: { status: 400 },
  WRONG_STATE: { status: 500 },
};

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

export function errorBody(
  status: number,
  code: string,
  message: string,
  param: string | null = null,
): ErrorBody {
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message, type, param, code } };
}

/** The bodies that the route of a refused request accepts. */
interface BodyRules {
  readonly bodyLimit: number;
  /** Content types. */
  readonly types: readonly string[];
}

/** The answer to any error. An unexpected error reveals nothing but the id of the request. */
export function errorReply(error: unknown, requestId: string, rules?: BodyRules): ErrorReply {
  if (error instanceof ParleyError || lacksDescriptors(error))
    return ownReply(asParleyError(error, 'WRONG_STATE'), requestId);
  return (
    frameworkReply(error, rules) ??
    internalReply(requestId, 'the server failed while answering', 'internal_error')
  );
}

/** The code that clients see, for the log and the metrics: one of a closed set. */
export function errorCode(error: unknown): string {
  return errorReply(error, '').body.error.code ?? 'unknown';
}

export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const { id, raw, routeOptions } = reply.request;
  // fastify sets `connection: close` after a body that it did not read. HTTP/2 has no such header.
  if (raw.httpVersionMajor === 2) reply.removeHeader('connection');
  const { bodyLimit, schema } = routeOptions;
  const types = Object.keys(schema?.otherBodies ?? {});
  if (schema?.body !== undefined) types.unshift('application/json');
  const { status, headers, body } = errorReply(error, id, { bodyLimit, types });
  return reply.code(status).headers(headers).send(body);
}

/** Codes that WebSockets name as HTTP does. */
const SOCKET_CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_FIELD: 'invalid_value',
  MODEL_UNKNOWN: 'model_not_found',
};

export type ReportFailure = (error: ParleyError, requestId: string) => void;

/** The error that a WebSocket message carries. Calls `report` for failures that are not the peer's fault. */
export function socketError(
  error: unknown,
  requestId: string,
  report: ReportFailure,
): { readonly code: string; readonly message: string; readonly field: string | undefined } {
  const known = asParleyError(error, 'WRONG_STATE');
  const code = SOCKET_CODES[known.code] ?? known.code.toLowerCase();
  if (!isHidden(known)) return { code, ...forClient(known) };
  report(known, requestId);
  return { code, message: hiddenMessage(meaningOf(known.code), requestId), field: undefined };
}

/** By the code of Node's parser error. */
const BROKEN: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'timeout', 'the request did not arrive in time'],
};
const NOT_HTTP = [400, 'malformed', 'the request is not valid HTTP'] as const;

/** Answers a malformed request on its socket, because it never becomes a request of fastify. */
export function refuseBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, message] = BROKEN[error.code ?? ''] ?? NOT_HTTP;
  const body = JSON.stringify(errorBody(status, code, message));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function ownReply(error: ParleyError, requestId: string): ErrorReply {
  const rule = ANSWERS[error.code];
  const { status } = rule;
  const code = rule.code ?? error.code.toLowerCase();
  if (isHidden(error)) return internalReply(requestId, meaningOf(error.code), code);
  const headers: Record<string, string> = {};
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="parley"';
  const retryAfter = error.retryAfterSeconds ?? rule.retryAfterSeconds;
  if ((status === 503 || status === 429 || status === 409) && retryAfter !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfter)));
    headers['retry-after-ms'] = String(Math.ceil(retryAfter * 1000));
  } else if (status >= 500) {
    headers['x-should-retry'] = 'false';
  }
  const { message, field = null } = forClient(error);
  return { status, headers, body: errorBody(status, code, message, field) };
}

/**
 * The same request would fail again, and OpenAI's clients repeat a request after a 500 unless told not to.
 */
function internalReply(requestId: string, what: string, code: string): ErrorReply {
  const message = hiddenMessage(what, requestId);
  return { status: 500, headers: { 'x-should-retry': 'false' }, body: errorBody(500, code, message) };
}

function hiddenMessage(what: string, requestId: string): string {
  return `${what}; the log has more under request ${requestId}`;
}

const FRAMEWORK_CODES: Readonly<Record<string, readonly [code: string, message: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'the content type of the body is not one that is understood under this URL',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'the body is larger than this address accepts'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed', 'the body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed', 'the body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['malformed', 'the URL is not valid'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'there is nothing under this URL'],
};

/** Refusals by fastify and its plugins: errors that carry a status in the 4xx range. */
function frameworkReply(error: unknown, rules: BodyRules | undefined): ErrorReply | undefined {
  if (!(error instanceof Error)) return undefined;
  const { statusCode: status, code } = error as { statusCode?: unknown; code?: unknown };
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  const known = typeof code === 'string' ? FRAMEWORK_CODES[code] : undefined;
  const [name, message] = known ?? ['malformed', 'the request could not be understood'];
  return { status, headers: {}, body: errorBody(status, name, `${message}${allowedBy(status, rules)}`) };
}

function allowedBy(status: number, rules: BodyRules | undefined): string {
  if (rules === undefined) return '';
  if (status === 413) return `: at most ${rules.bodyLimit} bytes`;
  return status === 415 && rules.types.length > 0 ? `: it must be ${rules.types.join(' or ')}` : '';
}

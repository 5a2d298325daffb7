// Defines the errors that Parley raises on purpose: one class, one table of codes.
//
// A code is for programs and never changes its meaning. The message is for the person who can fix the cause:
// what was wrong, which field, what is allowed. Each protocol maps codes to its statuses in one table.

const CODES = {
  ABORTED: 'the requester gave the work up',
  ADDON_MISSING: 'the native addon is not built or cannot be loaded',
  AGENT_FAILED: 'the language model of an agent gave no usable answer',
  AUDIO_INVALID: 'the audio that came with a request is not usable',
  CALL_CLOSED: 'the call has ended',
  CALL_LIMIT: 'the limit of open calls is reached',
  CALL_LOOP: 'the call that is placed, or the sound of calls that are joined, would go in a circle',
  CALL_STATE: 'the call cannot do this in the state that it is in',
  CAPABILITY_MISSING: 'no speech engine of this server can do this',
  CLIENT_LIMIT: 'the limit of calls of one client, open or in set-up, is reached',
  CONFIG_INVALID: 'the configuration has mistakes',
  DECODER_FAILED: 'a decoder of sound files ended unexpectedly',
  DESCRIPTORS_EXHAUSTED: 'the server has no file descriptor left',
  DISK_FULL: 'the disk has no room for a file',
  DOWNLOAD_FAILED: 'a model could not be fetched from its hub',
  DTLS_FAILED: 'no keys for the media could be agreed on with the far end',
  ENCODER_FAILED: 'an encoder worker ended unexpectedly',
  ENGINE_BUSY: 'the queue of the speech engine is full',
  ENGINE_FAILED: 'the speech engine failed at this text',
  ENGINE_LOST: 'the device of the speech engine is gone, with all speech in progress',
  ENGINE_UNAVAILABLE: 'no speech engine is able to serve this request',
  EXISTS: 'there is something under this name already',
  FINGERPRINT_MISMATCH: 'the certificate of the far end is not the one that its description announces',
  FORBIDDEN: 'this client or its address may not do this',
  HEARING_FAILED: 'the worker that listens to callers cannot be started',
  IDEMPOTENCY_MISMATCH: 'the idempotency key was used with another request',
  INVALID_FIELD: 'a field of a request has a value that is not allowed',
  LANGUAGE_UNAVAILABLE: 'no engine of this server speaks that language',
  LISTENER_SLOW: 'the sound of a call was not read in time',
  MALFORMED: 'a message or body could not be parsed',
  MODEL_UNKNOWN: 'there is no model of this name',
  NOT_FOUND: 'there is nothing under this name',
  NO_COMMON_CODEC: 'offer and server have no audio codec in common',
  OVERLOADED: 'the server has no capacity for another call now',
  PRECONDITION_FAILED: 'the entity tag of the request is not the present one',
  PRECONDITION_REQUIRED: 'the request must name an entity tag, and names none',
  QUEUE_FULL: 'a bounded queue has no room',
  RATE_LIMITED: 'the client sends too many requests',
  RECORDING_FAILED: 'a recording could not be written',
  RECORDING_OFF: 'the server records no calls',
  ROOM_FULL: 'the room has as many members as it may have',
  SDP_INVALID: 'the session description is not usable',
  SDP_REFUSED: 'the session description is valid, but asks for what the address does not serve',
  TELEPHONE_OFF: 'the server takes no telephone calls',
  TEXT_EMPTY: 'the text contains no speakable characters',
  TEXT_TOO_LONG: 'the text is longer than the configured limit',
  TIMEOUT: 'a time limit passed',
  TOO_LARGE: 'the body or a part of it exceeds its size limit',
  TRANSPORT_UNSUPPORTED: 'the media transport lacks a feature that the native plane needs',
  TRANSLATION_FAILED: 'the translation server gave no usable answer',
  UNAUTHORIZED: 'the request carries no valid API key',
  UNSUPPORTED_MEDIA_TYPE: 'the content type of the body is not supported',
  UPLOAD_STALLED: 'the client stopped sending in the middle of an upload',
  VOICE_LIMIT: 'the limit of stored voices is reached',
  VOICE_UNKNOWN: 'there is no voice of this name',
  WRONG_STATE: 'the object cannot do this in the state it is in',
} as const;

export type ErrorCode = keyof typeof CODES;

/**
 * Codes without a stack trace: they are frequent under load, their origin does not matter, and a trace would
 * cost more than the rest of a refusal.
 */
const UNTRACED: ReadonlySet<ErrorCode> = new Set([
  'ABORTED',
  'CALL_CLOSED',
  'CALL_LIMIT',
  'CLIENT_LIMIT',
  'ENGINE_BUSY',
  'OVERLOADED',
  'QUEUE_FULL',
  'RATE_LIMITED',
]);

/** The general meaning of a code, for documents and logs. */
export function meaningOf(code: ErrorCode): string {
  return CODES[code];
}

/** Codes whose messages are for the operator: logs have them, and clients get the meaning of the code. */
const HIDDEN: ReadonlySet<ErrorCode> = new Set([
  'ADDON_MISSING',
  'CONFIG_INVALID',
  'ENCODER_FAILED',
  'ENGINE_FAILED',
  'HEARING_FAILED',
  'LISTENER_SLOW',
  'WRONG_STATE',
]);

/** True if clients may not read the message. */
export function isHidden({ code }: { readonly code: ErrorCode }): boolean {
  return HIDDEN.has(code);
}

interface ErrorDetails {
  /** The request field, variable or file that is wrong. */
  readonly field?: string;
  /** Seconds after which trying again makes sense. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { stackTraceLimit } = Error;
    if (UNTRACED.has(code)) Error.stackTraceLimit = 0;
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ParleyError';
    this.code = code;
    this.field = details.field;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/**
 * For `AbortController.abort` where that is called for every utterance: without a reason, Node makes an error
 * with its trace.
 */
export const GIVEN_UP = new ParleyError('ABORTED', 'the work was given up');

const VARIABLE = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$/;

const NAME = '[A-Z][A-Z\\d]*(?:_[A-Z\\d]+)+';
/** Words of messages that are for the operator, and the words that clients get in their place. */
const OF_OPERATOR: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`, which is what ${NAME} allows`, 'g'), ''],
  [new RegExp(` that ${NAME} allows`, 'g'), ' that are allowed'],
  [new RegExp(`, and ${NAME} allows (\\d+)`, 'g'), ', and $1 is the most'],
  [new RegExp(`: its operator (?:must set|sets) ${NAME}(?: or ${NAME})*`, 'g'), ''],
  [
    new RegExp(
      `; ${NAME}(?: or ${NAME})?(?: is (?:not )?set\\b| lists (?:those that (?:may|are)|them))`,
      'g',
    ),
    '',
  ],
  [new RegExp(`; ${NAME}=[^\\s,]+(?: changes it|, with a free ${NAME}, turns it on)`, 'g'), ''],
  [new RegExp(` \\((?:set )?${NAME}\\)`, 'g'), ''],
  [new RegExp(`\\b(checkpoint|bytes) of ${NAME}(?: or ${NAME})*`, 'g'), '$1'],
  [new RegExp(`; the operator allows it with ${NAME}=[^\\s,]+`, 'g'), ''],
  [new RegExp(`: does ${NAME} end in /v1\\?`, 'g'), ''],
  [new RegExp(`: ${NAME}=\\d+ keeps no sentences`, 'g'), ''],
  [/; the engine \S+ would: .*$/s, ''],
];

/** Message and field without what only the operator may read or can change. */
export function forClient({ code, message, field }: Pick<ParleyError, 'code' | 'message' | 'field'>): {
  readonly message: string;
  readonly field: string | undefined;
} {
  if (HIDDEN.has(code)) return { message: CODES[code], field: undefined };
  const isVariable = field !== undefined && VARIABLE.test(field);
  const told = OF_OPERATOR.reduce((text, [what, instead]) => text.replace(what, instead), message);
  return { message: told, field: isVariable ? undefined : field };
}

/** True if the process (EMFILE) or the machine (ENFILE) had no file descriptor left. */
export function lacksDescriptors(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'EMFILE' || code === 'ENFILE';
}

/**
 * The error as Parley's own, wrapping foreign ones under the code given, or under DESCRIPTORS_EXHAUSTED.
 */
export function asParleyError(error: unknown, code: ErrorCode): ParleyError {
  if (error instanceof ParleyError) return error;
  if (lacksDescriptors(error)) {
    const message = 'the server has too many files and connections open; try again later';
    return new ParleyError('DESCRIPTORS_EXHAUSTED', message, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ParleyError(code, message, { cause: error });
}

export function isAborted(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'ABORTED';
}

/** The piece of work that an event belongs to: its kind, one of a few, and its names in the log. */
export interface Work {
  readonly work: string;
  readonly [field: string]: unknown;
}

/** A defect of this server, with the work that it ended. */
export class Defect extends Error {
  readonly work: Work;

  constructor(error: unknown, work: Work) {
    super(`${work.work}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    this.name = 'Defect';
    this.work = work;
  }
}

/**
 * Reports a defect as an unhandled rejection, which the server logs and counts. For callbacks of the network:
 * thrown there, the error would leave its piece of work unfinished.
 */
export function tellDefect(error: unknown, work?: Work): void {
  const defect = work === undefined ? error : new Defect(error, work);
  void Promise.reject(defect instanceof Error ? defect : new Error(String(defect)));
}

/**
 * The handler of an event of the network, a worker, a ring or a timer. If it throws, the error is reported as
 * a defect and `fail` ends the piece of work that the event belongs to. No other work is affected. For the
 * main thread: in a worker thread a reported defect ends the thread.
 */
export function guarded<A extends readonly unknown[]>(
  work: Work,
  handler: (...args: A) => void,
  fail: (error: ParleyError) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      handler(...args);
    } catch (error) {
      tellDefect(error, work);
      attempt(work, () => fail(asParleyError(error, 'WRONG_STATE')));
    }
  };
}

/** Runs an action whose failure must not keep what follows from running: the failure is a defect. */
export function attempt(work: Work, action: () => void): void {
  try {
    action();
  } catch (error) {
    tellDefect(error, work);
  }
}

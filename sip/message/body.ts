// Reads message bodies: the parts of multipart bodies (RFC 2046 section 5.1, RFC 5621) and the session
// description among them. A sender may require that every part is understood.
import { headEnd, HeaderFields, headLines } from './head.js';
import { type MediaType, parseMediaType, type SipRequest, type SipResponse } from './message.js';
import { headerParameters, Scanner } from './scanner.js';
import { refused, type Result } from './refusal.js';
import type { HeaderLine } from './serialiser.js';

interface BodyPart {
  readonly type: MediaType;
  /** Lower case: `session` for a description that must be answered, `render` by default for other types. */
  readonly disposition: string;
  readonly body: Buffer;
}

const MOST_PARTS = 16; // parts of all levels together
const MOST_LEVELS = 3;
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/; // RFC 2046, section 5.1.1
const CRLF = '\r\n';
const CR = 0x0d;
const LF = 0x0a;
const PLAIN_TEXT: MediaType | undefined = parseMediaType('text/plain');

interface RawPart extends BodyPart {
  /** The sender or its place demands that it is understood. */
  readonly isRequired: boolean;
  /** The sender allows that it is ignored. */
  readonly isOptional: boolean;
  /** Undone where it was in base64. */
  readonly isReadable: boolean;
}

/**
 * Returns the parts of the understood types (lower case), in order and from all levels. A body that is not
 * multipart is its own only part. Refusals: 400 for malformed parts, 413 for too many, 415 if a required
 * part has another type. With `demands` false (responses and ACK cannot be refused) other parts are skipped.
 */
export function understoodParts(
  body: Buffer,
  type: MediaType,
  understood: readonly string[],
  demands = true,
): Result<readonly BodyPart[]> {
  const found: BodyPart[] = [];
  const walk = new Walk(understood, found, demands);
  const whole = {
    type,
    disposition: defaultDisposition(type),
    body,
    isRequired: demands,
    isOptional: false,
    isReadable: true,
  };
  return walk.take(whole, 0) ?? { value: found };
}

type Fault = ReturnType<typeof refused> | undefined;

class Walk {
  readonly #understood: readonly string[];
  readonly #found: BodyPart[];
  readonly #demands: boolean;
  #parts = 0;

  constructor(understood: readonly string[], found: BodyPart[], demands: boolean) {
    this.#understood = understood;
    this.#found = found;
    this.#demands = demands;
  }

  take(part: RawPart, level: number): Fault {
    const { type, disposition, body, isReadable, isRequired, isOptional } = part;
    if (isReadable && type.name.startsWith('multipart/')) return this.#takeAll(type, body, level);
    if (isReadable && this.#understood.includes(type.name)) {
      this.#found.push({ type, disposition, body });
      return undefined;
    }
    const accept = [['Accept', this.#understood.join(', ')]] as const;
    // A description in an encoding that we do not know must not be taken for none.
    const isLost = this.#demands && !isOptional && this.#understood.includes(type.name);
    return isRequired || isLost ? refused(415, 'Unsupported Media Type', accept) : undefined;
  }

  #takeAll(type: MediaType, body: Buffer, level: number): Fault {
    if (level >= MOST_LEVELS) return refused(413, `the body has more than ${MOST_LEVELS} levels of parts`);
    const pieces = split(body, type.params.get('boundary') ?? '', MOST_PARTS - this.#parts);
    if (pieces.refusal !== undefined) return pieces;
    this.#parts += pieces.value.length;
    const parts = pieces.value.map(readPart);
    if (parts.includes(undefined)) return refused(400, 'a part of the body is not well-formed');
    const whole = parts.flatMap((part) => part ?? []);
    if (type.name !== 'multipart/alternative') return this.#takeEach(whole, level);
    const fault = this.#takeBest(whole, level);
    return fault?.refusal.status === 415 && !this.#demands ? undefined : fault;
  }

  #takeEach(parts: readonly RawPart[], level: number): Fault {
    for (const part of parts) {
      const fault = this.take(this.#demands ? part : { ...part, isRequired: false }, level + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** The parts are alternatives; the last one that is understood is the best (RFC 2046, section 5.1.4). */
  #takeBest(parts: readonly RawPart[], level: number): Fault {
    let fault: Fault;
    for (const part of parts.toReversed()) {
      const before = this.#found.length;
      fault = this.take({ ...part, isRequired: true }, level + 1);
      if (fault === undefined) return undefined;
      this.#found.length = before;
    }
    return fault;
  }
}

/** Splits the body at its delimiters. Lines may end in LF alone, as in the head of a message. */
function split(body: Buffer, boundary: string, most: number): Result<Buffer[]> {
  if (!BOUNDARY.test(boundary)) return refused(400, 'the boundary of a multipart body is not well-formed');
  const delimiter = Buffer.from(`--${boundary}`);
  const pieces: Buffer[] = [];
  let start = -1;
  // A line that only begins like a delimiter is content.
  for (let at = lineAt(body, delimiter, 0); ;) {
    if (at === -1) return refused(400, 'a multipart body does not end');
    const after = at + delimiter.length;
    const rest = lineEnd(body, after);
    if (rest !== undefined) {
      if (start >= 0) pieces.push(body.subarray(start, Math.max(start, at - (body[at - 2] === CR ? 2 : 1))));
      if (pieces.length > most) return refused(413, `the body has more than ${MOST_PARTS} parts`);
      if (rest === 'last') return { value: pieces };
      start = rest;
    }
    at = lineAt(body, delimiter, rest ?? after);
  }
}

/** Offset of the next line that begins with `text`; -1 if there is none. */
function lineAt(body: Buffer, text: Buffer, from: number): number {
  let at = body.indexOf(text, from);
  while (at > 0 && body[at - 1] !== LF) at = body.indexOf(text, at + 1);
  return at;
}

/** Offset of the line after a delimiter; undefined if the line is not a delimiter. */
function lineEnd(body: Buffer, after: number): number | 'last' | undefined {
  if (body[after] === 0x2d && body[after + 1] === 0x2d) return 'last';
  let at = after;
  while (body[at] === 0x20 || body[at] === 0x09) at++;
  if (body[at] === CR) at++;
  return body[at] === LF ? at + 1 : undefined;
}

function readPart(piece: Buffer): RawPart | undefined {
  const bare = /^\r?\n/.exec(piece.toString('latin1', 0, 2))?.[0].length; // no header at all
  const { end, body } =
    bare === undefined
      ? (headEnd(piece, 0) ?? { end: piece.length, body: piece.length })
      : { end: 0, body: bare };
  const head = piece.subarray(0, end);
  const { fields: list, fault } = headLines(
    Buffer.concat([Buffer.from(bare === undefined ? CRLF : ''), head]),
  );
  const fields = new HeaderFields(list);
  const stated = fields.first('content-type');
  const type = stated === undefined ? PLAIN_TEXT : parseMediaType(stated);
  if (fault !== undefined || type === undefined) return undefined;
  const content = piece.subarray(body);
  const coding = (fields.first('content-transfer-encoding') ?? 'binary').toLowerCase();
  const isPacked = fields.all('content-encoding').some((name) => name.toLowerCase() !== 'identity');
  return {
    type,
    ...readDisposition(fields.first('content-disposition'), type),
    body: coding === 'base64' ? Buffer.from(content.toString('latin1'), 'base64') : content,
    isReadable: !isPacked && ['binary', '8bit', '7bit', 'base64'].includes(coding),
  };
}

/**
 * RFC 3261 section 20.11 makes every part required by default. Senders of ISUP or PIDF rely on peers that
 * pass over what they do not know, so here the sender has to say it.
 */
function readDisposition(value: string | undefined, type: MediaType) {
  const scanner = new Scanner(value ?? '');
  const disposition = scanner.space().token().toLowerCase();
  const params = headerParameters(scanner);
  const handling = params?.get('handling')?.toLowerCase();
  return {
    disposition: disposition === '' ? defaultDisposition(type) : disposition,
    isRequired: handling === 'required',
    isOptional: handling === 'optional',
  };
}

function defaultDisposition({ name }: MediaType): string {
  return name === 'application/sdp' ? 'session' : 'render';
}

/** True if the sender marks the body as optional (RFC 3261, section 20.11). */
export function isOptionalBody(request: SipRequest): boolean {
  return /;\s*handling\s*=\s*optional\b/i.test(request.first('content-disposition') ?? '');
}

const SDP = 'application/sdp';

/**
 * Returns the offer or answer in a request; refused if the body requires more than a description or cannot
 * be read.
 */
export function describedIn(request: SipRequest): Result<Buffer | undefined> {
  return isOptionalBody(request) ? { value: descriptionIn(request) } : found(request, true);
}

/**
 * Returns the description in a response or ACK, which cannot be refused: undefined if there is no readable
 * one.
 */
export function descriptionIn(message: SipRequest | SipResponse): Buffer | undefined {
  return found(message, false).value;
}

/** Content-Type and body for a message with this description. */
export function withDescription(sdp: string | undefined): {
  readonly headers: readonly HeaderLine[];
  readonly body: string | undefined;
} {
  return { headers: sdp === undefined ? [] : [['Content-Type', SDP]], body: sdp };
}

function found(
  { body, contentType }: SipRequest | SipResponse,
  demands: boolean,
): Result<Buffer | undefined> {
  if (body.length === 0 || contentType === undefined) return { value: undefined };
  if (contentType.name === SDP) return { value: body };
  if (!contentType.name.startsWith('multipart/')) return { value: undefined };
  const parts = understoodParts(body, contentType, [SDP], demands);
  if (parts.refusal !== undefined) return parts;
  return { value: parts.value.find(({ disposition }) => disposition === 'session')?.body };
}

// The parts of a form (multipart/form-data, RFC 7578) out of a body that is
// there whole: views of it, nothing is copied. Node's own parser takes 80 ms of
// the main thread for a file of 10 MiB; this takes one search for the boundary.
import { ParleyError } from '../../errors.js';

export interface FormPart {
  readonly name: string;
  /** Present of files. */
  readonly fileName?: string;
  /** A view of the body. */
  readonly bytes: Buffer;
}

/** What it says, in UTF-8. */
export function textOf({ bytes }: FormPart): string {
  return new TextDecoder().decode(bytes);
}

const MAX_PARTS = 64;
const MAX_HEAD_BYTES = 8192; // of one part
const BOUNDARY = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;
const LINE = '\r\n';
const GAP = /^[ \t]*\r\n/; // behind a boundary
const MAX_GAP = 64;
const PLAIN_ENCODINGS = ['', '7bit', '8bit', 'binary'];

/** In order. Throws MALFORMED. */
export function formParts(body: Buffer, contentType: string): FormPart[] {
  const boundary = BOUNDARY.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw malformed('the content type of the form names no boundary');
  const delimiter = Buffer.from(`${LINE}--${mark}`);
  const parts: FormPart[] = [];
  let at = afterFirst(body, delimiter);
  while (body.toString('latin1', at, at + 2) !== '--') {
    if (parts.length === MAX_PARTS) throw malformed(`the form has more than ${MAX_PARTS} parts`);
    const start = at + gapAt(body, at);
    const end = body.indexOf(delimiter, start);
    if (end < 0) throw malformed('the form ends within a part');
    parts.push(partOf(body.subarray(start, end)));
    at = end + delimiter.length;
  }
  return parts;
}

/** What is before the first boundary says nothing. */
function afterFirst(body: Buffer, delimiter: Buffer): number {
  const bare = delimiter.subarray(LINE.length);
  if (body.subarray(0, bare.length).equals(bare)) return bare.length;
  const at = body.indexOf(delimiter);
  if (at < 0) throw malformed('the boundary of the form is nowhere in it');
  return at + delimiter.length;
}

function gapAt(body: Buffer, at: number): number {
  const gap = GAP.exec(body.toString('latin1', at, at + MAX_GAP))?.[0];
  if (gap === undefined) throw malformed('a boundary of the form is not the end of its line');
  return gap.length;
}

function partOf(part: Buffer): FormPart {
  const headBytes = part.subarray(0, MAX_HEAD_BYTES).indexOf(LINE + LINE);
  if (headBytes < 0) throw malformed('a part of the form has no end of its headers, or too many of them');
  const headers = headersOf(part.toString('utf8', 0, headBytes));
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (!/^form-data\s*;/i.test(disposition) || name === undefined)
    throw malformed('a part of the form has no name');
  const encoding = headers.get('content-transfer-encoding') ?? '';
  if (!PLAIN_ENCODINGS.includes(encoding.toLowerCase()))
    throw malformed('a part of the form has a transfer encoding; none is taken');
  const fileName = parameterOf(disposition, 'filename');
  const bytes = part.subarray(headBytes + 2 * LINE.length);
  return { name, ...(fileName === undefined ? {} : { fileName }), bytes };
}

function headersOf(head: string): Map<string, string> {
  const lines = head.split(LINE).map((line): [string, string] => {
    const colon = line.indexOf(':');
    if (colon < 1) throw malformed('a part of the form has a header without a name');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return new Map(lines);
}

/** As browsers write it: in quotes, with what would end it written as `%22`, `%0D` and `%0A`; or bare. */
function parameterOf(header: string, wanted: string): string | undefined {
  for (const [, name, quoted, bare] of header.matchAll(/;\s*([a-z*]+)=(?:"([^"]*)"|([^\s;"]+))/gi)) {
    if (name?.toLowerCase() === wanted)
      return (quoted ?? bare ?? '').replace(/%(22|0[AD])/gi, decodeURIComponent);
  }
  return undefined;
}

function malformed(message: string): ParleyError {
  return new ParleyError('MALFORMED', message);
}

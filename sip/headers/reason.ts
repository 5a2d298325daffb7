// Why a request is sent, or refused (RFC 3326).
import { headerParameters } from '../message/parameters.js';
import { quoted, Scanner } from '../message/scanner.js';

export interface Reason {
  /** Small letters: `sip`, `q.850`, or another. */
  readonly protocol: string;
  /** A status of SIP, a cause of Q.850. */
  readonly cause: number | undefined;
  readonly text: string | undefined;
}

/** One value of the field; undefined where it is not well-formed. */
export function readReason(value: string): Reason | undefined {
  const scanner = new Scanner(value);
  const protocol = scanner.space().token().toLowerCase();
  const params = protocol === '' ? undefined : headerParameters(scanner);
  if (params === undefined) return undefined;
  const cause = params.get('cause') ?? '';
  return {
    protocol,
    cause: /^\d{1,9}$/.test(cause) ? Number(cause) : undefined,
    text: params.get('text'),
  };
}

export function writeReason({ protocol, cause, text }: Reason): string {
  const name = protocol === 'sip' || protocol === 'q.850' ? protocol.toUpperCase() : protocol;
  const parts = [
    ...(cause === undefined ? [] : [`cause=${cause}`]),
    // oxlint-disable-next-line no-control-regex -- a line end would begin a field of its own
    ...(text === undefined ? [] : [`text=${quoted(text.replace(/[\x00-\x1f\x7f]+/g, ' '))}`]),
  ];
  return [name, ...parts].join(';');
}

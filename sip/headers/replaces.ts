// Which dialog a call takes the place of (RFC 3891), as in the Replaces field
// and, escaped, in the Refer-To of an attended transfer.
import { headerParameters } from '../message/parameters.js';
import { isToken, Scanner } from '../message/scanner.js';

export interface Replaces {
  readonly callId: string;
  readonly toTag: string;
  readonly fromTag: string;
  /** Only a dialog that is not answered yet is meant. */
  readonly earlyOnly: boolean;
}

/** Undefined where it is not well-formed or a tag is missing. */
export function readReplaces(value: string): Replaces | undefined {
  const end = value.indexOf(';');
  const callId = (end < 0 ? value : value.slice(0, end)).trim();
  const params =
    end < 0 || !/^[^\s,;]+$/.test(callId) ? undefined : headerParameters(new Scanner(value, end));
  const [toTag = '', fromTag = ''] = [params?.get('to-tag'), params?.get('from-tag')];
  // In quotes a tag might hold what would be a parameter of its own where it is written again.
  if (params === undefined || !isToken(toTag) || !isToken(fromTag)) return undefined;
  return { callId, toTag, fromTag, earlyOnly: params.has('early-only') };
}

/** A peer of RFC 2543 has no tag: 0 stands for that (RFC 3891, section 3). */
export function writeReplaces({ callId, toTag, fromTag, earlyOnly }: Replaces): string {
  return `${callId};to-tag=${toTag || '0'};from-tag=${fromTag || '0'}${earlyOnly ? ';early-only' : ''}`;
}

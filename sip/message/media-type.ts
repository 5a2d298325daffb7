// Content-Type: what a body is.
import { headerParameters, type Parameters } from './parameters.js';
import { Scanner } from './scanner.js';

export interface MediaType {
  /** Lower case, such as "application/sdp". */
  readonly name: string;
  readonly params: Parameters;
}

export function parseMediaType(value: string): MediaType | undefined {
  const scanner = new Scanner(value);
  const type = scanner.space().token();
  if (!scanner.space().take('/')) return undefined;
  const subtype = scanner.space().token();
  if (type === '' || subtype === '') return undefined;
  const params = headerParameters(scanner);
  return params === undefined ? undefined : { name: `${type}/${subtype}`.toLowerCase(), params };
}

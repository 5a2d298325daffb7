// Fields of requests under the names that whoever asked has for them: dialects
// call the same thing otherwise, and an error must name what was sent.
import { ParleyError } from '../../errors.js';

/** By the name inside. */
export type FieldNames = Readonly<Record<string, string>>;

/** The error under these names, in its message too; any other error as it is. */
export function renamed(error: unknown, names: FieldNames): unknown {
  if (!(error instanceof ParleyError) || error.field === undefined) return error;
  const name = names[error.field];
  if (name === undefined) return error;
  const message = error.message.replaceAll(`"${error.field}"`, `"${name}"`);
  const { retryAfterSeconds } = error;
  return new ParleyError(error.code, message, {
    field: name,
    cause: error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

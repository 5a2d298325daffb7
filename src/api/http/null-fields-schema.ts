// Null is how some clients leave a field out, at any depth that a request has.
const MAX_DEPTH = 5; // a batch: body, list, item, settings; deeper no schema reaches

/** Takes away every field that is null, in place. */
export function dropNullFields(value: unknown, depth = MAX_DEPTH): void {
  if (typeof value !== 'object' || value === null || depth === 0) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNullFields(item, depth - 1);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const field = fields[name];
    if (field === null) delete fields[name];
    else if (typeof field === 'object') dropNullFields(field, depth - 1);
  }
}

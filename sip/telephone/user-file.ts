// Callers and their passwords, one `name:password` a line; `#` begins a comment.
import type { Secret } from '../auth/digest.js';

const MOST_USERS = 10_000;

export type UserFile =
  | { readonly users: ReadonlyMap<string, Secret>; readonly problems?: undefined }
  | { readonly problems: readonly string[]; readonly users?: undefined };

/** No problem quotes what stands in the file. */
export function readUserFile(text: string): UserFile {
  const users = new Map<string, Secret>();
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const colon = content.indexOf(':');
    const [name, password] = [content.slice(0, colon), content.slice(colon + 1)];
    if (colon < 1 || password === '') problems.push(`line ${index + 1} is not name:password`);
    else if (users.has(name)) problems.push(`line ${index + 1} names somebody a second time`);
    else users.set(name, { password });
  }
  if (users.size > MOST_USERS) problems.push(`more than ${MOST_USERS} callers`);
  return problems.length > 0 ? { problems } : { users };
}

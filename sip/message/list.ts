// Several header values in one line, apart.

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x3c;
const CLOSE = 0x3e;

/** At the commas that stand neither in quotes nor in angle brackets. */
export function splitList(value: string): string[] {
  if (!value.includes(',')) return [value];
  const parts: string[] = [];
  let start = 0;
  let inQuotes = false;
  let inBrackets = false;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (inQuotes) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inQuotes = false;
    } else if (code === QUOTE) inQuotes = true;
    else if (code === OPEN) inBrackets = true;
    else if (code === CLOSE) inBrackets = false;
    else if (code === COMMA && !inBrackets) {
      parts.push(value.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(value.slice(start).trim());
  return parts;
}

// Reads the body of an HTTP response up to a bound. Whoever asks a foreign server decides what becomes of
// more.

/** `isWhole`: false if the body has more than `mostBytes`; what follows is not read. */
export async function responseText(
  response: Response,
  mostBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    const chunk = part as Uint8Array;
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) break; // which cancels the body
  }
  const text = Buffer.concat(parts).subarray(0, mostBytes).toString('utf8');
  return { text, isWhole: bytes <= mostBytes };
}

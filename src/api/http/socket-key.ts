// The API key of a WebSocket. A program sends it in a header; a browser can send
// none, and puts it among the subprotocols, as OpenAI's clients do.
import type { IncomingHttpHeaders } from 'node:http';

const KEY_PROTOCOL = 'openai-insecure-api-key.';

/** The headers with the key, wherever it stands, as a bearer token. An empty token is none. */
export function withBearerKey(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { authorization, ...others } = headers;
  if (authorization !== undefined && !/^bearer *$/i.test(authorization)) return headers;
  const key = statedKey(headers);
  return key === undefined ? others : { ...others, authorization: `Bearer ${key}` };
}

function statedKey(headers: IncomingHttpHeaders): string | undefined {
  const stated = headers['xi-api-key'];
  if (typeof stated === 'string' && stated !== '') return stated;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return protocols.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}

/** Browsers want one of the subprotocols that they offer confirmed; the key only where there is no other. */
export function confirmedProtocol(offered: ReadonlySet<string>): string | false {
  const names = [...offered];
  return names.find((name) => !name.startsWith(KEY_PROTOCOL)) ?? names[0] ?? false;
}

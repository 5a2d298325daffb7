// Calls from one server to another whose programs conduct them, over HTTP as an application sees both.
import assert from 'node:assert/strict';
import type { ServerProcess } from './server-process.js';

export interface Shown {
  readonly type: string;
  readonly verb?: string;
  readonly text?: string;
  readonly state?: string;
  readonly digit?: string;
  readonly code?: string;
}

export async function request<T>(url: string, body?: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
  assert.ok(response.ok, `${url}: ${response.status} ${await response.clone().text()}`);
  return (await response.json()) as T;
}

/** The events of the only call of a server, from its beginning to its end. */
export async function eventsOfCall(server: Pick<ServerProcess, 'url'>): Promise<readonly Shown[]> {
  const { data } = await request<{ data: readonly { id: string }[] }>(`${server.url}/v1/calls`);
  assert.equal(data.length, 1);
  const url = `${server.url}/v1/calls/${data[0]?.id}/events?after=0`;
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Shown);
}

/** The verbs that began, the texts that were heard, and the end. */
export function storyOf(events: readonly Shown[]): readonly (string | undefined)[] {
  return events.flatMap(({ type, verb, text, state }) => {
    if (type === 'program.verb') return [verb];
    if (type === 'utterance.spoken') return [`“${text}”`];
    return state === 'ended' ? [state] : [];
  });
}

/** Places a call, and presses keys once it is answered. */
export async function call(caller: ServerProcess, to: string, digits: string): Promise<void> {
  const { id } = await request<{ id: string }>(`${caller.url}/v1/calls`, { to });
  const events = await fetch(`${caller.url}/v1/calls/${id}/events?after=0`, {
    signal: AbortSignal.timeout(30_000),
  });
  let seen = '';
  const decoder = new TextDecoder();
  for await (const part of events.body ?? []) {
    seen += decoder.decode(part as Uint8Array, { stream: true });
    if (seen.includes('"connected"')) break; // which ends the request
  }
  assert.match(seen, /"connected"/);
  await request(`${caller.url}/v1/calls/${id}/dtmf`, { digits });
}

// The calls of the REST API over a fake telephone, fake programs and an application that notes its callbacks.
import type { HandledCall } from '../../../src/call/call-handler.js';
import type { CallEvent } from '../../../src/call/call-events.js';
import type { ProgramSource } from '../../../src/config/ivr-config.js';
import { RestCalls } from '../../../src/api/twilio/rest-calls.js';
import type { FetchRequest } from '../../../src/api/twiml/document-fetch.js';
import { twimlAccounts } from '../../../src/api/twiml/sids.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { FakePhone } from '../calls/fake-calls.js';

const CONFIG = {
  file: undefined,
  hosts: [],
  twimlUrl: undefined,
  authToken: undefined,
  publicUrl: undefined,
};

export function restUnderTest() {
  const phone = new FakePhone();
  const time = new ManualTime();
  /** The program that conducts each call. */
  const conducted = new Map<string, ProgramSource>();
  const told: CallEvent[] = [];
  const sent: { readonly url: string; readonly form: Readonly<Record<string, string>> }[] = [];
  const handledOf = (id: string) =>
    ({ call: { id, tell: (event: CallEvent) => told.push(event) } }) as unknown as HandledCall;
  const answer: { fetch: (request: FetchRequest, signal: AbortSignal) => Promise<void> } = {
    fetch: () => Promise.resolve(),
  };
  const calls = new RestCalls({
    config: CONFIG,
    calls: () => phone,
    programs: {
      problemOf: () => undefined,
      conduct: (handled, source) => {
        conducted.set(handled.call.id, source);
        return { typed: () => undefined };
      },
      replace: () => undefined,
      sourceOf: (id) => conducted.get(id),
    },
    openCalls: { check: handledOf, find: handledOf },
    fetcher: {
      fetch: async (request, signal) => {
        sent.push({ url: request.target.at, form: Object.fromEntries(request.parameters) });
        await answer.fetch(request, signal);
        return { url: request.target.at, contentType: '', charset: undefined, body: Buffer.alloc(0) };
      },
    },
    accountOf: twimlAccounts({ keyOf: (name) => ({ name, key: 'a-key' }), authToken: undefined }),
    recorded: undefined,
    time,
    unixMs: () => 1_700_000_000_000,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  return { phone, time, conducted, told, sent, answer, calls };
}

/** Lets what waits for promises go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

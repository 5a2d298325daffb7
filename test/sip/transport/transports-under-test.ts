// Transports on loopback that keep what they received.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Parsed, parseMessage } from '../../../sip/message/parser.js';
import { requestBytes, responseBytes } from '../../../sip/message/serialiser.js';
import type { Flow, TransportName } from '../../../sip/transport/flow.js';
import type { ListenerOptions } from '../../../sip/transport/listener-options.js';
import type { Target } from '../../../sip/transport/outbound.js';
import {
  type BytesFor,
  type Sent,
  Transports,
  type TransportsOptions,
} from '../../../sip/transport/transports.js';
import { systemTime } from '../../../src/time.js';
import { until } from '../../fakes/until.js';

interface Received {
  readonly bytes: Buffer;
  readonly parsed: Parsed;
  readonly flow: Flow;
}

export interface Opened {
  readonly transports: Transports;
  readonly received: Received[];
  /** Listening address by transport. */
  readonly target: (transport: TransportName, more?: Partial<Target>) => Target;
  /** Resolves with what came in as number `index`. */
  readonly nth: (index: number) => Promise<Received>;
}

export async function openTransports(
  t: TestContext,
  listeners: readonly ListenerOptions[],
  more: Partial<TransportsOptions> = {},
): Promise<Opened> {
  const received: Received[] = [];
  const transports = new Transports({
    listeners,
    time: systemTime,
    received: (bytes, flow) => received.push({ bytes, parsed: parseMessage(bytes, flow.remote), flow }),
    ...more,
  });
  await transports.open();
  t.after(() => transports.close());
  const target = (transport: TransportName, extra: Partial<Target> = {}): Target => {
    const local = transports.local(transport);
    assert.ok(local !== undefined);
    return { transport, ...local, ...extra };
  };
  const nth = async (index: number): Promise<Received> => {
    await until(() => received.length > index);
    return received[index] as Received;
  };
  return { transports, received, target, nth };
}

/** An OPTIONS whose Via is that of the flow it leaves on. */
export function options(from: Transports, body = '', branch = 'z9hG4bK1'): BytesFor {
  const headers = [
    ['From', '<sip:a@127.0.0.1>;tag=1'],
    ['To', '<sip:b@127.0.0.1>'],
    ['Call-ID', 'c'],
    ['CSeq', '1 OPTIONS'],
  ] as const;
  const request = { method: 'OPTIONS', uri: 'sip:b@127.0.0.1', headers, body };
  return (flow) => requestBytes(request, from.viaFor(flow, branch));
}

export async function sent(promise: ReturnType<Transports['send']>): Promise<Sent> {
  const result = await promise;
  if (typeof result === 'string') assert.fail(result);
  return result;
}

/** Answers a request with 200. */
export function answer(from: Transports, { parsed, flow }: Received): Promise<boolean> {
  assert.ok(parsed.kind === 'request');
  return from.respond(responseBytes(parsed.request, { status: 200, toTag: 'x' }), parsed.request.via, flow);
}

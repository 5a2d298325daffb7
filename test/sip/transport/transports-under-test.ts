// Transports on loopback that keep what they received.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type Parsed, parseMessage } from '../../../sip/message/message.js';
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

// A certificate authority of the tests issues certificates.

export interface Issued {
  readonly ca: string;
  /** For a server at 127.0.0.1, ::1 and sip.example.com. */
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

const run = promisify(execFile);

export async function issueCertificates(): Promise<Issued> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sip-'));
  const at = (name: string): string => join(folder, name);
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    await run('openssl', [
      'req',
      '-x509',
      ...newKey,
      '-days',
      '2',
      '-subj',
      '/CN=test',
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
    ]);
    for (const [name, subject] of [
      ['server', 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:sip.example.com'],
      ['client', 'subjectAltName=DNS:client.example.com'],
    ] as const) {
      await run('openssl', [
        'req',
        ...newKey,
        '-subj',
        `/CN=${name}`,
        '-keyout',
        at(`${name}.key`),
        '-out',
        at(`${name}.csr`),
      ]);
      writeFileSync(at('ext'), subject);
      await run('openssl', [
        'x509',
        '-req',
        '-days',
        '2',
        '-in',
        at(`${name}.csr`),
        '-CA',
        at('ca.pem'),
        '-CAkey',
        at('ca.key'),
        '-CAcreateserial',
        '-extfile',
        at('ext'),
        '-out',
        at(`${name}.pem`),
      ]);
    }
    return {
      ca: read('ca.pem'),
      server: { cert: read('server.pem'), key: read('server.key') },
      client: { cert: read('client.pem'), key: read('client.key') },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

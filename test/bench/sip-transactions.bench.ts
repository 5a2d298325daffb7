// Cost of a call in SIP alone: messages, transactions and UDP on loopback. The calling and the called stack
// run in one process, together on one core.
//
//   npm run bench -- sip-transactions           15 s a line
//   npm run bench -- sip-transactions --quick   4 s
//
// A call is INVITE, 180, 200, ACK, BYE, 200, with session descriptions: 6
// messages, each written once and parsed once. "Calls/s per core" is what the
// processor time per call comes to, for both stacks; a server is one of them.
// "As fast as it goes" keeps 16 calls under way. The parser's share is what the
// messages of the line cost when they are parsed once more. At 3200 calls/s both
// stacks are overloaded, and the called one has to refuse (503). The last table parses the
// messages of such a call with this stack's parser and with the grammar of
// sip.js, which is asked for the values that every message needs.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Grammar } from 'sip.js/lib/grammar/grammar.js';
import { parseMessage, type SipResponse } from '../../sip/message/message.js';
import { type HeaderLine, requestBytes, type RequestData } from '../../sip/message/serialiser.js';
import { LoadGauge } from '../../sip/transaction/load-gauge.js';
import type { AcceptedAnswer, ServerTransaction } from '../../sip/transaction/server-transaction.js';
import { TransactionLayer, type TransactionUser } from '../../sip/transaction/transaction-layer.js';
import type { Flow } from '../../sip/transport/flow.js';
import type { Target } from '../../sip/transport/outbound.js';
import { Transports } from '../../sip/transport/transports.js';
import { systemTime } from '../../src/time.js';
import { spreadOf } from './arrivals.js';
import { machine, type Row, stolenSeconds, table } from './table.js';

// Two SIP stacks in one process: the calling one and the called one, each with
// a socket of its own on loopback, and calls between them as dialogs make them.

// prettier-ignore
const SDP = [
  'v=0', 'o=- 20518 0 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 54400 RTP/AVP 0 8 9 101',
  'a=rtpmap:0 PCMU/8000', 'a=rtpmap:8 PCMA/8000', 'a=rtpmap:9 G722/8000', 'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-16', 'a=ptime:20', 'a=sendrecv', '',
].join('\r\n');
const TYPE = ['Content-Type', 'application/sdp'] as const;

const SAMPLE = 6000;

interface CallTimes {
  /** Milliseconds from INVITE to 200. */
  readonly setUpMs: number[];
  failed: number;
  /** Answered 503. */
  refused: number;
  done: number;
}

class SipStacks {
  /** Messages that both have parsed, and the first of them. */
  messages = 0;
  readonly sample: Buffer[] = [];
  readonly #caller: TransactionLayer;
  readonly #callee: TransactionLayer;
  readonly #transports: Transports[];
  readonly #answers = new Map<string, AcceptedAnswer | undefined>();
  readonly #load = new LoadGauge({
    time: systemTime,
    delayMs: () => this.#transports[1]?.queueDelayMs() ?? 0,
  });
  #target: Target | undefined;

  constructor() {
    const called: TransactionUser = {
      request: (request, transaction) => this.#answer(request.method, request.callId, transaction),
      acknowledged: ({ callId }) => this.#answers.get(callId)?.stop(),
    };
    const nobody: TransactionUser = { request: () => undefined, acknowledged: () => undefined };
    const [callerWire, caller] = this.#stack(nobody);
    const [calleeWire, callee] = this.#stack(called, this.#load);
    this.#transports = [callerWire, calleeWire];
    this.#caller = caller;
    this.#callee = callee;
  }

  /** Requests that came again, at either end: what was sent twice. */
  get retransmissions(): number {
    return this.#callee.countOf('retransmissions') + this.#caller.countOf('retransmissions');
  }

  async open(): Promise<void> {
    for (const transports of this.#transports) await transports.open();
    const place = this.#transports[1]?.local('udp');
    if (place === undefined) throw new Error('nobody listens');
    this.#target = { transport: 'udp', ...place };
  }

  async close(): Promise<void> {
    this.#load.close();
    this.#caller.close();
    this.#callee.close();
    await Promise.all(this.#transports.map((transports) => transports.close()));
  }

  /** INVITE, 180, 200, ACK, and at once BYE, 200. `ended` is called when it is over, however it ended. */
  call(times: CallTimes, ended: () => void): void {
    const target = this.#target;
    if (target === undefined) throw new Error('not open');
    const startMs = performance.now();
    const id = randomBytes(8).toString('hex');
    const from = ['From', `"Bench" <sip:alice@127.0.0.1>;tag=${id}`] as const;
    const fail = (): void => {
      times.failed++;
      ended();
    };
    let isUp = false;
    const answered = (response: SipResponse): void => {
      if (response.status < 200 || isUp) return;
      isUp = true;
      if (response.status === 503) {
        times.refused++;
        return ended();
      }
      if (response.status !== 200) return fail();
      times.setUpMs.push(performance.now() - startMs);
      const to = response.first('to') ?? '';
      this.#caller.sendAck(requestOf('ACK', 1, id, from, to), target);
      this.#caller.send(requestOf('BYE', 2, id, from, to), target, { response: hungUp, failed: fail });
    };
    const hungUp = ({ status }: SipResponse): void => {
      if (status !== 200) return fail();
      times.done++;
      ended();
    };
    const invite = requestOf('INVITE', 1, id, from, '<sip:bob@127.0.0.1>', SDP);
    this.#caller.send(invite, target, { response: answered, failed: fail });
  }

  #answer(method: string, callId: string, transaction: ServerTransaction): void {
    if (method === 'BYE') {
      transaction.respond({ status: this.#answers.delete(callId) ? 200 : 481 });
      return;
    }
    const contact = ['Contact', '<sip:bob@127.0.0.1>'] as const;
    transaction.respond({ status: 180, headers: [contact] });
    const response = { status: 200, headers: [contact, TYPE], body: SDP };
    this.#answers.set(
      callId,
      this.#callee.accept(transaction, response, () => undefined),
    );
  }

  #stack(user: TransactionUser, load?: LoadGauge): [Transports, TransactionLayer] {
    const received = (bytes: Buffer, flow: Flow): void => {
      this.messages++;
      if (this.sample.length < SAMPLE) this.sample.push(bytes);
      layer.received(bytes, flow);
    };
    const transports = new Transports({
      listeners: [{ transport: 'udp', port: 0 }],
      time: systemTime,
      received,
    });
    const token = (): string => randomBytes(9).toString('base64url');
    const layer = new TransactionLayer({
      wire: transports,
      user,
      time: systemTime,
      token,
      ...(load && { load }),
    });
    return [transports, layer];
  }
}

function requestOf(
  method: string,
  cseq: number,
  id: string,
  from: HeaderLine,
  to: string,
  body = '',
): RequestData {
  const headers: HeaderLine[] = [
    from,
    ['To', to],
    ['Call-ID', id],
    ['CSeq', `${cseq} ${method}`],
    ['Contact', '<sip:alice@127.0.0.1>'],
    ['User-Agent', 'Parley bench'],
    ['Allow', 'INVITE, ACK, CANCEL, BYE, OPTIONS'],
    ['Supported', 'timer, replaces'],
  ];
  if (body !== '') headers.push(TYPE);
  return { method, uri: 'sip:bob@127.0.0.1', headers, body };
}

const QUICK = process.argv.includes('--quick');
const LINE_MS = QUICK ? 4000 : 15_000;
const RATES = QUICK ? [200, 400, 3200] : [100, 200, 400, 800, 3200];
const AT_ONCE = 16;
const WARM_UP_CALLS = 2000;
const PARSES = QUICK ? 3000 : 20_000;
const GRAMMAR_PARSES = QUICK ? 20 : 200;

const PLACE = { address: '127.0.0.1', port: 5062 };

type Load = (stacks: SipStacks, times: CallTimes) => Promise<void>;

async function asFastAsItGoes(stacks: SipStacks, times: CallTimes): Promise<void> {
  const endMs = performance.now() + LINE_MS;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < endMs) await new Promise<void>((resolve) => stacks.call(times, resolve));
    }),
  );
}

/** Calls begin when they are due, however many are under way. */
function atRate(callsPerSecond: number): Load {
  return async (stacks, times) => {
    const startMs = performance.now();
    let begun = 0;
    let ended = 0;
    while (performance.now() - startMs < LINE_MS) {
      const due = Math.floor(((performance.now() - startMs) / 1000) * callsPerSecond);
      for (; begun < due; begun++) stacks.call(times, () => ended++);
      await sleep(1);
    }
    for (let waited = 0; ended < begun && waited < 35_000; waited += 10) await sleep(10);
    times.failed += begun - ended;
  };
}

async function line(name: string, load: Load): Promise<Row> {
  const stacks = new SipStacks();
  await stacks.open();
  try {
    const times: CallTimes = { setUpMs: [], failed: 0, refused: 0, done: 0 };
    const stolenBefore = stolenSeconds();
    const cpuBefore = process.cpuUsage();
    const startMs = performance.now();
    await load(stacks, times);
    const wallSeconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuSeconds = (user + system) / 1e6;
    const setUp = spreadOf(times.setUpMs);
    let at = 0;
    const parseMicroseconds = cost(PARSES, () =>
      parseMessage(stacks.sample[at++ % stacks.sample.length] ?? INVITE, PLACE),
    );
    return {
      load: name,
      calls: times.done,
      failed: times.failed,
      'refused 503': times.refused,
      'sent again': stacks.retransmissions,
      'calls/s': times.done / wallSeconds,
      'set-up p50 ms': setUp.p50,
      'p95 ms': setUp.p95,
      'p99 ms': setUp.p99,
      'CPU ms a call': (cpuSeconds / times.done) * 1000,
      'calls/s per core': Math.round(times.done / cpuSeconds),
      'parser %': ((parseMicroseconds * stacks.messages) / 1e6 / cpuSeconds) * 100,
      'stolen %': ((stolenSeconds() - stolenBefore) / wallSeconds) * 100,
    };
  } finally {
    await stacks.close();
  }
}

async function warmUp(): Promise<void> {
  const stacks = new SipStacks();
  await stacks.open();
  const times: CallTimes = { setUpMs: [], failed: 0, refused: 0, done: 0 };
  for (let call = 0; call < WARM_UP_CALLS; call++) {
    await new Promise<void>((resolve) => stacks.call(times, resolve));
  }
  await stacks.close();
}

const INVITE = requestBytes(
  {
    method: 'INVITE',
    uri: 'sip:bob@127.0.0.1:5060',
    headers: [
      ['From', '"Bench" <sip:alice@127.0.0.1>;tag=abcdef0123456789'],
      ['To', '<sip:bob@127.0.0.1>'],
      ['Call-ID', 'abcdef0123456789'],
      ['CSeq', '1 INVITE'],
      ['Contact', '<sip:alice@127.0.0.1:5062>'],
      ['Allow', 'INVITE, ACK, CANCEL, BYE, OPTIONS'],
      ['Supported', 'timer, replaces'],
    ],
  },
  'SIP/2.0/UDP 127.0.0.1:5062;branch=z9hG4bKabcdefghijkl;rport',
);

const VALUES = [
  ['Via', 'SIP/2.0/UDP 127.0.0.1:5062;branch=z9hG4bKabcdefghijkl;rport'],
  ['From', '"Bench" <sip:alice@127.0.0.1>;tag=abcdef0123456789'],
  ['To', '<sip:bob@127.0.0.1>'],
  ['CSeq', '1 INVITE'],
  ['Contact', '<sip:alice@127.0.0.1:5062>'],
  ['SIP_URI', 'sip:bob@127.0.0.1:5060'],
] as const;

/** Microseconds of processor time for one. */
function cost(count: number, action: () => void): number {
  for (let warm = 0; warm < count / 10; warm++) action();
  const before = process.cpuUsage();
  for (let done = 0; done < count; done++) action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

function parsers(): Row[] {
  const ours = cost(PARSES, () => parseMessage(INVITE, PLACE));
  const theirs = cost(GRAMMAR_PARSES, () => {
    for (const [rule, value] of VALUES) Grammar.parse(value, rule);
  });
  return [
    { parser: 'this one: a whole INVITE', 'µs CPU': ours },
    { parser: `grammar of sip.js: ${VALUES.length} values of it`, 'µs CPU': theirs },
  ];
}

async function main(): Promise<void> {
  console.log(`${machine()}; ${LINE_MS / 1000} s a line\n`);
  await warmUp();
  const rows: Row[] = [];
  for (const rate of RATES) rows.push(await line(`${rate} calls/s`, atRate(rate)));
  rows.push(await line('as fast as it goes', asFastAsItGoes));
  console.log(table(rows));
  console.log(`\n${table(parsers())}`);
}

await main();

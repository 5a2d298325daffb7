// Cost of a call in SIP alone: messages, transactions and UDP on loopback. The calling and the called stack
// run in one process, together on one core.
//
//   npm run bench:sip-transactions              15 s a line
//   npm run bench:sip-transactions -- --quick   4 s
//
// A call is INVITE, 180, 200, ACK, BYE, 200, with session descriptions: 6
// messages, each written once and parsed once. "Calls/s per core" is what the
// processor time per call comes to, for both stacks; a server is one of them.
// "As fast as it goes" keeps 16 calls under way. The parser's share is what the
// messages of the line cost when they are parsed once more. At 3200 calls/s both
// stacks are overloaded, and the called one has to refuse (503). The last table parses the
// messages of such a call with this stack's parser and with the grammar of
// sip.js, which is asked for the values that every message needs.
import { Grammar } from 'sip.js/lib/grammar/grammar.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMessage } from '../../sip/message/parser.js';
import { requestBytes } from '../../sip/message/serialiser.js';
import { spreadOf } from './arrivals.js';
import { type CallTimes, SipStacks } from './sip-stacks.js';
import { stolenSeconds } from './stolen-time.js';
import { machine, type Row, table } from './table.js';

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

// Many short telephone calls, and whether the server that bears them stays as
// it was: memory, descriptors, ports, dialogs, transactions, timers.
//
//   npm run soak -- sip                20,000 calls, 200 a second
//   npm run soak -- sip --calls 2000   so many
//   npm run soak -- sip --rate 100     a second
//
// Its last lines are the memory before, at the peak and idle after the calls, as a table and as JSON.
//
// Flat means: when transactions are over (32 s after the last call) nothing of
// the calls is left, and the second half of them added less than a tenth to what
// was resident after the first. Garbage is collected before each look.
import { setTimeout as sleep } from 'node:timers/promises';
import { spreadOf, UdpReceiver } from '../arrivals.js';
import { machine, table, type Row } from '../table.js';
import { BenchPhone } from './bench-phone.js';
import type { PhoneFigures } from './phone-server.js';
import { SippLoad } from './sipp-load.js';

const CALLS = option('calls', 20_000);
const RATE = option('rate', 200);
const PARTS = 8;
const HOLD_MS = 300;
const TRANSACTIONS_OVER_MS = 35_000; // Timer J, 32 s, and some
const COLLECT_MS = 500;
const GROWTH = 1.1;

function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  const value = at < 0 ? fallback : Number(process.argv[at + 1]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} wants a whole number`);
  return value;
}

async function look(phone: BenchPhone): Promise<PhoneFigures> {
  phone.collect();
  await sleep(COLLECT_MS);
  return phone.figures();
}

function rowOf(at: string, calls: number, figures: PhoneFigures): Row {
  return {
    at,
    calls,
    'RSS MB': figures.residentMb,
    'heap MB': figures.heapMb,
    descriptors: figures.descriptors,
    'ports used': figures.portsUsed,
    'ports resting': figures.portsResting,
    standing: figures.calls,
    dialogs: figures.dialogs,
    transactions: figures.transactions,
    timers: figures.timers,
  };
}

/** Resources left after all calls ended, and memory that grew during the run. */
function grown(before: PhoneFigures, middle: PhoneFigures, end: PhoneFigures, rest: PhoneFigures): string[] {
  const left = (
    ['descriptors', 'portsUsed', 'portsResting', 'calls', 'dialogs', 'transactions', 'timers'] as const
  )
    .filter((name) => rest[name] > before[name] + (name === 'timers' ? 2 : 0)) // two may be the server's
    .map((name) => `${name}: ${before[name]} before, ${rest[name]} after`);
  const larger =
    end.residentMb > GROWTH * middle.residentMb
      ? [`resident: ${middle.residentMb} MB half-way, ${end.residentMb} MB at the end`]
      : [];
  return [...left, ...larger];
}

/** Resident memory in MB. Idle is when the server has had so many seconds without a call. */
function memoryOf(calls: number, before: PhoneFigures, idle: PhoneFigures) {
  const [beforeMb, idleMb] = [Math.round(before.residentMb), Math.round(idle.residentMb)];
  const peakMb = Math.round(idle.peakMb);
  return { calls, beforeMb, peakMb, idleMb, idleSeconds: (TRANSACTIONS_OVER_MS + COLLECT_MS) / 1000 };
}

async function soak(phone: BenchPhone): Promise<string[]> {
  const receiver = await UdpReceiver.open();
  const before = await look(phone);
  const rows: Row[] = [rowOf('start', 0, before)];
  const during: PhoneFigures[] = [];
  const counts = { done: 0, failed: 0, refused: 0 };
  for (let part = 1; part <= PARTS; part++) {
    const plan = {
      to: phone.address,
      sinkPort: receiver.port,
      calls: Math.round(CALLS / PARTS),
      perSecond: RATE,
      holdMs: HOLD_MS,
    };
    const { done, failed, refused, setUpMs } = await (await SippLoad.start(plan)).ended;
    counts.done += done;
    counts.failed += failed;
    counts.refused += refused;
    during.push(await look(phone));
    rows.push(rowOf(`part ${part}`, counts.done, during.at(-1) ?? before));
    console.log(`part ${part}: ${JSON.stringify(counts)}, set-up p95 ${spreadOf(setUpMs).p95} ms`);
  }
  await receiver.close();
  await sleep(TRANSACTIONS_OVER_MS);
  const rest = await look(phone);
  rows.push(rowOf('rest', counts.done, rest));
  console.log(`\n${table(rows)}\n`);
  const memory = memoryOf(counts.done, before, rest);
  console.log(`${table([memory])}\n\n${JSON.stringify(memory)}\n`);
  const lost = counts.failed > 0 ? [`${counts.failed} calls failed`] : [];
  return [...lost, ...grown(before, during[PARTS / 2 - 1] ?? before, during.at(-1) ?? before, rest)];
}

console.log(`${machine()}; ${CALLS} calls, ${RATE} a second\n`);
const phone = await BenchPhone.start({ nodeOptions: ['--expose-gc'] });
try {
  const growth = await soak(phone);
  console.log(growth.length > 0 ? `not flat: ${growth.join('; ')}` : 'flat');
  process.exitCode = growth.length > 0 ? 1 : 0;
} finally {
  await phone.close();
}

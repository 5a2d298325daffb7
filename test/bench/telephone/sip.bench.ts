// Telephone calls against the whole server: how fast they are set up, and what
// they cost while they stand.
//
//   npm run bench:sip              all tables, about 9 minutes
//   npm run bench:sip -- --quick   the same, smaller, about 3 minutes
//   npm run bench:sip -- setup     one table: setup, standing, rivals
//
// The server is a process of its own on one processor; SIPp, which calls, and a
// native program, which hears, are on the other. Calls are G.711 over plain RTP.
// Lateness is what the plane's own clock says of each packet (when it was due,
// when it left); intervals are the kernel's times of arrival at the hearer, which
// tell of everybody alike.
import { availableParallelism } from 'node:os';
import { spawnSync } from 'node:child_process';
import { machine, table, type Row } from '../table.js';
import { BenchPhone, LOAD_CORE } from './bench-phone.js';
import { setUpTable, warmUpSetUp } from './call-setup.js';
import { baresipLine, rtpengineLine } from './media-rivals.js';
import { standingLine } from './standing-calls.js';

const QUICK = process.argv.includes('--quick');
const WANTED = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const RATES = QUICK
  ? { ladder: [50, 100, 200, 400, 800], seconds: 4, afterwards: 100 }
  : { ladder: [50, 100, 200, 400, 600, 800, 1000, 1200, 1600, 2400], seconds: 10, afterwards: 100 };
const WARM_UP = { calls: QUICK ? 1000 : 3000, perSecond: 50 };
const CALLS = QUICK ? [100, 300] : [100, 500, 1000];
const BARESIP_CALLS = QUICK ? [50] : [100, 300];
const MEASURE_MS = QUICK ? 4000 : 10_000;

function isWanted(name: string): boolean {
  return WANTED.length === 0 || WANTED.includes(name);
}

function print(title: string, rows: readonly Row[]): void {
  console.log(`${title}\n\n${table(rows)}\n`);
}

async function setUp(logLevel: string): Promise<void> {
  const phone = await BenchPhone.start({ environment: { LOG_LEVEL: logLevel } });
  try {
    await warmUpSetUp(phone, WARM_UP);
    print(`Set-up, LOG_LEVEL=${logLevel}`, await setUpTable(phone, RATES));
  } finally {
    await phone.close();
  }
}

async function standing(): Promise<void> {
  const rows: Row[] = [];
  for (const calls of CALLS) rows.push(await standingLine({ name: 'cached', calls, measureMs: MEASURE_MS }));
  const uncached = { FRAME_CACHE_BYTES: '0' };
  for (const calls of CALLS) {
    rows.push(await standingLine({ name: 'live', calls, measureMs: MEASURE_MS, environment: uncached }));
  }
  print('Calls that stand', rows);
}

async function rivals(): Promise<void> {
  const rows: Row[] = [];
  for (const calls of CALLS) rows.push(await rtpengineLine(calls, MEASURE_MS));
  for (const calls of BARESIP_CALLS) rows.push(await baresipLine(calls, MEASURE_MS));
  print('Others that play a file into calls', rows);
}

async function main(): Promise<void> {
  if (availableParallelism() < 2) throw new Error('this bench wants two processors');
  spawnSync('taskset', ['-apc', LOAD_CORE, String(process.pid)]);
  console.log(`${machine()}\n`);
  if (isWanted('setup')) await setUp('warn');
  if (isWanted('setup') && !QUICK) await setUp('info');
  if (isWanted('standing')) await standing();
  if (isWanted('rivals')) await rivals();
}

await main();

// Calls in a menu of call programs: what they cost, how soon a key silences a prompt, and how soon the next
// prompt follows.
//
//   npm run bench -- ivr            200 calls in each row, 20 s
//   npm run bench -- ivr --quick    20 calls, 8 s
//
// The server has a core of its own, and its prompts are cached before the time counts. Every caller presses a
// key every 4 s, in the middle of a prompt. Each prompt begins with 200 ms of silence, so that the end of the
// one before can be told. Times are those of the caller: from the first packet of a key to the last packet
// with sound (silent), and to the first packet with sound of the next prompt, less its own silence (next).
// The rival in the same run is a call that a rule speaks to, without a program.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScratchFolder } from '../interop/telephone/program.js';
import { readRtp, writeEvent, writeRtp } from '../interop/telephone/rtp-peer.js';
import { description, EVENTS, mediaPortIn } from '../telephone/heard-calls.js';
import { callFrom, UdpCaller } from '../telephone/raw-caller.js';
import { spreadOf } from './arrivals.js';
import { machine, type Row, stolenSeconds, table } from './table.js';
import { BenchPhone, LONG_GREETING } from './telephone/bench-phone.js';

const QUICK = process.argv.includes('--quick');
const CALLS = QUICK ? 20 : 200;
const MEASURE_MS = QUICK ? 8000 : 20_000;
const KEY_MS = 4000; // from key to key
const WARM_MS = 2 * KEY_MS;
const PAUSE_MS = 200;
const PACKET_MS = 20;
const EVENT_PACKETS = 5;
const END_PACKETS = 3;
const TICKS = 160; // of a packet, at 8 kHz
const SILENT_LEVEL = 24; // codes of µ-law that are nearer to zero than -50 dBFS begin here, counted from 0xff
const PROMPT =
  'Welcome to the service line. For questions about your bill, press one. For technical help, press two.';

/** One caller: its socket for RTP, its stream, and when it heard what. */
class Caller {
  readonly silentMs: number[] = [];
  readonly nextMs: number[] = [];
  readonly #socket: Socket;
  readonly #port: number;
  readonly #ssrc: number;
  #sequence = 1;
  #timestamp = 1;
  /** The first packet of the key was sent; undefined: its prompts have come. */
  #keyMs: number | undefined;
  #loudMs = 0;
  /** Figures count. */
  isCounting = false;

  private constructor(socket: Socket, port: number, ssrc: number) {
    this.#socket = socket;
    this.#port = port;
    this.#ssrc = ssrc;
  }

  static async call(signalling: UdpCaller, to: string, ssrc: number): Promise<Caller> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const body = description(socket.address().port, 'mu');
    const { answer } = await callFrom(signalling, { uri: `sip:${to}@127.0.0.1`, body });
    const caller = new Caller(socket, mediaPortIn(answer), ssrc);
    socket.on('message', (bytes) => caller.#heard(bytes));
    return caller;
  }

  /** Presses a key of 100 ms (RFC 4733). */
  async press(digit: string): Promise<void> {
    const timestamp = (this.#timestamp += (KEY_MS / PACKET_MS) * TICKS);
    this.#keyMs = performance.now();
    for (let n = 1; n <= EVENT_PACKETS + END_PACKETS; n++) {
      const end = n > EVENT_PACKETS;
      const duration = Math.min(n, EVENT_PACKETS + 1) * TICKS;
      const payload = writeEvent({ digit, end, volume: 10, duration });
      const stream = { payloadType: EVENTS, sequence: this.#sequence++, timestamp, ssrc: this.#ssrc };
      this.#socket.send(writeRtp({ marker: n === 1, ...stream, payload }), this.#port, '127.0.0.1');
      if (!end) await sleep(PACKET_MS);
    }
  }

  close(): void {
    this.#socket.close();
  }

  #heard(bytes: Buffer): void {
    const packet = readRtp(bytes);
    if (packet === undefined || packet.payloadType !== 0) return;
    if (!packet.payload.some((code) => 0x7f - (code & 0x7f) >= SILENT_LEVEL)) return;
    const now = performance.now();
    const keyMs = this.#keyMs;
    if (keyMs !== undefined && now - this.#loudMs > PAUSE_MS / 2 && this.#loudMs >= keyMs - KEY_MS) {
      const silent = Math.max(0, this.#loudMs - keyMs);
      if (this.isCounting) {
        this.silentMs.push(silent);
        this.nextMs.push(now - keyMs - PAUSE_MS);
      }
      this.#keyMs = undefined;
    }
    this.#loudMs = now;
  }
}

const gather = { gather: { keys: 1, timeout: 60, prompts: [{ pause: PAUSE_MS / 1000 }, { say: PROMPT }] } };
const PROGRAMS = {
  programs: {
    one: [{ gather: { ...gather.gather, choices: { '1': 'two' } } }],
    two: [{ gather: { ...gather.gather, choices: { '1': 'one' } } }],
  },
};
const DOCUMENT = `<Response><Gather numDigits="1" timeout="60"><Pause length="0"/><Say>${PROMPT}</Say></Gather></Response>`;

/** An application that answers every request with the same document, and notes when. */
async function application(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((asked, response) => {
    asked.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/xml' }).end(DOCUMENT));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

interface Setting {
  readonly name: string;
  readonly to: string;
  readonly pressesKeys: boolean;
}

async function rowOf(phone: BenchPhone, { name, to, pressesKeys }: Setting): Promise<Row> {
  const signalling = await UdpCaller.open(phone.address);
  const callers: Caller[] = [];
  for (let n = 0; n < CALLS; n++) callers.push(await Caller.call(signalling, to, n + 1));
  let isOver = false;
  const pressing = callers.map(async (caller, n) => {
    await sleep((KEY_MS * n) / CALLS);
    while (!isOver && pressesKeys) {
      const began = performance.now();
      await caller.press('1');
      await sleep(KEY_MS - (performance.now() - began));
    }
  });
  await sleep(WARM_MS);
  for (const caller of callers) caller.isCounting = true;
  const began = performance.now();
  phone.begin();
  await sleep(MEASURE_MS);
  const { cpuMs, loopLate, underruns } = await phone.figures();
  const elapsedMs = performance.now() - began;
  isOver = true;
  await Promise.all(pressing);
  const silent = spreadOf(callers.flatMap(({ silentMs }) => silentMs));
  const next = spreadOf(callers.flatMap(({ nextMs }) => nextMs));
  for (const caller of callers) caller.close();
  await signalling.close();
  return {
    calls: name,
    '% of a core a call': (100 * cpuMs) / elapsedMs / CALLS,
    keys: callers.reduce((sum, { silentMs }) => sum + silentMs.length, 0),
    'silent p50': silent.p50,
    'silent p99': silent.p99,
    'next p50': next.p50,
    'next p99': next.p99,
    'loop p99': loopLate.p99,
    underruns,
  };
}

async function main(): Promise<void> {
  const [stolenBefore, began] = [stolenSeconds(), performance.now()];
  const folder = new ScratchFolder();
  const [programs, routes] = [folder.at('menus.json'), folder.at('rules.json')];
  const app = await application();
  writeFileSync(programs, JSON.stringify(PROGRAMS));
  const rules = [
    { to: 'spoken', say: { text: LONG_GREETING } },
    { to: 'program', program: 'one' },
    { to: 'document', twiml: { url: app.url, method: 'POST' } },
  ];
  writeFileSync(routes, JSON.stringify({ routes: rules }));
  const rows: Row[] = [];
  for (const setting of [
    { name: 'spoken to by a rule', to: 'spoken', pressesKeys: false },
    { name: 'menu of a file', to: 'program', pressesKeys: true },
    { name: 'menu in TwiML', to: 'document', pressesKeys: true },
  ]) {
    const environment = { IVR_FILE: programs, SIP_ROUTES: routes };
    const phone = await BenchPhone.start({ engine: 'flite', environment });
    rows.push(await rowOf(phone, setting));
    await phone.close();
  }
  app.close();
  folder.remove();
  const share = (stolenSeconds() - stolenBefore) / ((performance.now() - began) / 1000);
  console.log(`${machine()}; ${CALLS} calls, times in ms; stolen ${(100 * share).toFixed(1)} %\n`);
  console.log(table(rows));
}

await main();

// Calls in a menu of call programs: what they cost, how soon a key silences a prompt, and how soon the next
// prompt follows.
//
//   npm run bench -- ivr            200 calls in each row, 20 s
//   npm run bench -- ivr --quick    20 calls, 8 s
//
// The server has a core of its own, and its prompts are cached before the time counts. Every caller presses a
// key 0.5 to 2.5 s after a prompt has begun to sound. Each prompt begins with a pause of 1 s, which no prompt
// has within it, so that the end of the one before can be told. Times are those of the caller: from the first
// packet of a key to the last packet with sound (silent), and to the first packet with sound of the next
// prompt, less its pause (next). A key that fell into a gap between two words counts for `next` only. The
// application notes when it has answered (document): from there to the first packet, less the pause.
// The rival in the same run is a call that a rule speaks to, without a program.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../api/mutations.js';
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
const WARM_MS = 10_000;
const PAUSE_MS = 1000;
const GAP_MS = 500; // longer than those between words
const [EARLIEST_KEY_MS, LATEST_KEY_MS] = [500, 2500]; // after the first sound of a prompt
const WORD_GAP_MS = 30; // without sound for so long, the caller hears a gap between words
const PROMPT_MS = 12_000; // longer than a prompt
const PACKET_MS = 20;
const EVENT_PACKETS = 5;
const END_PACKETS = 3;
const TICKS = 160; // of a packet, at 8 kHz
const LEAST_LEVEL = 2; // code of µ-law, counted from zero: pauses have none above it
const PROMPT =
  'Welcome to the service line. For questions about your bill, press one. For technical help, press two.';

/** One caller: its socket for RTP, its stream, and when it heard what. */
class Caller {
  readonly silentMs: number[] = [];
  readonly nextMs: number[] = [];
  readonly documentMs: number[] = [];
  /** Keys that were pressed while the figures counted. */
  keys = 0;
  /** Figures count. */
  isCounting = false;
  /** The application has answered this caller at that time. */
  answeredMs: number | undefined;
  readonly #socket: Socket;
  readonly #port: number;
  readonly #ssrc: number;
  readonly #random: () => number;
  #sequence = 1;
  #timestamp = 1;
  /** The first packet of the key was sent; undefined: the prompt after it has begun. */
  #keyMs: number | undefined;
  /** The last packet with sound before the key. */
  #loudBeforeKeyMs = 0;
  #loudMs = 0;
  #pressing: NodeJS.Timeout | undefined;
  #pressesKeys = false;

  private constructor(socket: Socket, port: number, ssrc: number) {
    this.#socket = socket;
    this.#port = port;
    this.#ssrc = ssrc;
    this.#random = randomFrom(ssrc);
  }

  static async call(
    signalling: UdpCaller,
    { to, pressesKeys }: Setting,
    ssrc: number,
    app: Application,
  ): Promise<Caller> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const body = description(socket.address().port, 'mu');
    const callId = `${to}-${ssrc}@bench`;
    const { answer } = await callFrom(signalling, { uri: `sip:${to}@127.0.0.1`, callId, body });
    const caller = new Caller(socket, mediaPortIn(answer), ssrc);
    caller.#pressesKeys = pressesKeys;
    app.callers.set(callId, caller);
    socket.on('message', (bytes) => caller.#heard(bytes));
    return caller;
  }

  close(): void {
    this.#pressesKeys = false;
    clearTimeout(this.#pressing);
    this.#socket.close();
  }

  /** Presses a key of 100 ms (RFC 4733). */
  async #press(digit: string): Promise<void> {
    const timestamp = (this.#timestamp += 100 * TICKS);
    this.#keyMs = performance.now();
    this.#loudBeforeKeyMs = this.#loudMs;
    this.answeredMs = undefined;
    if (this.isCounting) this.keys++;
    for (let n = 1; n <= EVENT_PACKETS + END_PACKETS; n++) {
      const end = n > EVENT_PACKETS;
      const duration = Math.min(n, EVENT_PACKETS + 1) * TICKS;
      const payload = writeEvent({ digit, end, volume: 10, duration });
      const stream = { payloadType: EVENTS, sequence: this.#sequence++, timestamp, ssrc: this.#ssrc };
      if (!this.#pressesKeys) return;
      this.#socket.send(writeRtp({ marker: n === 1, ...stream, payload }), this.#port, '127.0.0.1');
      if (!end) await sleep(PACKET_MS);
    }
  }

  #heard(bytes: Buffer): void {
    const packet = readRtp(bytes);
    if (packet === undefined || packet.payloadType !== 0) return;
    if (!packet.payload.some((code) => 0x7f - (code & 0x7f) >= LEAST_LEVEL)) return;
    const now = performance.now();
    if (now - this.#loudMs > GAP_MS) this.#promptBegins(now);
    this.#loudMs = now;
  }

  #promptBegins(now: number): void {
    const keyMs = this.#keyMs;
    this.#keyMs = undefined;
    if (keyMs !== undefined && this.isCounting) {
      this.nextMs.push(now - keyMs - PAUSE_MS);
      if (this.answeredMs !== undefined) this.documentMs.push(now - this.answeredMs - PAUSE_MS);
      const isInWord = keyMs - this.#loudBeforeKeyMs < WORD_GAP_MS;
      if (isInWord) this.silentMs.push(Math.max(0, this.#loudMs - keyMs));
    }
    if (!this.#pressesKeys) return;
    const afterMs = EARLIEST_KEY_MS + this.#random() * (LATEST_KEY_MS - EARLIEST_KEY_MS);
    this.#pressing = setTimeout(() => void this.#press('1'), afterMs);
  }
}

const gather = { gather: { keys: 1, timeout: 60, prompts: [{ pause: PAUSE_MS / 1000 }, { say: PROMPT }] } };
const PROGRAMS = {
  programs: {
    one: [{ gather: { ...gather.gather, choices: { '1': 'two' } } }],
    two: [{ gather: { ...gather.gather, choices: { '1': 'one' } } }],
  },
};
const DOCUMENT = `<Response><Gather numDigits="1" timeout="60"><Pause length="1"/><Say>${PROMPT}</Say></Gather></Response>`;
/** The second one listens, too. The recogniser is never asked: nobody speaks. */
const SPEECH_DOCUMENT = DOCUMENT.replace('<Gather', '<Gather input="dtmf speech"');

interface Application {
  readonly url: string;
  /** By the Call-ID of SIP. */
  readonly callers: Map<string, Caller>;
  close(): void;
}

/** An application that answers every request with the same document, and notes when. */
async function application(): Promise<Application> {
  const callers = new Map<string, Caller>();
  const server = createServer((asked, response) => {
    let form = '';
    asked.setEncoding('latin1').on('data', (text: string) => (form += text));
    asked.on('end', () => {
      const document = asked.url === '/speech' ? SPEECH_DOCUMENT : DOCUMENT;
      response.writeHead(200, { 'content-type': 'text/xml' }).end(document);
      const caller = callers.get(new URLSearchParams(form).get('SipCallId') ?? '');
      if (caller !== undefined) caller.answeredMs = performance.now();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, callers, close: () => server.close() };
}

interface Setting {
  readonly name: string;
  readonly to: string;
  readonly pressesKeys: boolean;
}

/** The cache keeps a sentence that somebody has heard to its end. */
async function hearPrompt(signalling: UdpCaller, setting: Setting, app: Application): Promise<void> {
  const caller = await Caller.call(signalling, { ...setting, pressesKeys: false }, CALLS + 1, app);
  await sleep(PROMPT_MS);
  caller.close();
}

async function rowOf(phone: BenchPhone, setting: Setting, app: Application): Promise<Row> {
  const signalling = await UdpCaller.open(phone.address);
  await hearPrompt(signalling, setting, app);
  const callers: Caller[] = [];
  for (let n = 0; n < CALLS; n++) callers.push(await Caller.call(signalling, setting, n + 1, app));
  await sleep(WARM_MS);
  for (const caller of callers) caller.isCounting = true;
  const began = performance.now();
  phone.begin();
  await sleep(MEASURE_MS);
  const { cpuMs, loopLate, underruns } = await phone.figures();
  const elapsedMs = performance.now() - began;
  for (const caller of callers) caller.close();
  await signalling.close();
  const silent = spreadOf(callers.flatMap(({ silentMs }) => silentMs));
  const next = spreadOf(callers.flatMap(({ nextMs }) => nextMs));
  const document = spreadOf(callers.flatMap(({ documentMs }) => documentMs));
  return {
    calls: setting.name,
    '% of a core a call': (100 * cpuMs) / elapsedMs / CALLS,
    keys: callers.reduce((sum, { keys }) => sum + keys, 0),
    'silent p50': silent.p50,
    'silent p99': silent.p99,
    'next p50': next.p50,
    'next p99': next.p99,
    'document p50': document.p50,
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
    { to: 'document', twiml: { url: `${app.url}/`, method: 'POST' } },
    { to: 'speech', twiml: { url: `${app.url}/speech`, method: 'POST' } },
  ];
  writeFileSync(routes, JSON.stringify({ routes: rules }));
  const rows: Row[] = [];
  for (const setting of [
    { name: 'spoken to by a rule', to: 'spoken', pressesKeys: false },
    { name: 'menu of a file', to: 'program', pressesKeys: true },
    { name: 'menu in TwiML', to: 'document', pressesKeys: true },
    { name: 'the same, input="dtmf speech"', to: 'speech', pressesKeys: true },
  ]) {
    const environment = { IVR_FILE: programs, SIP_ROUTES: routes };
    const phone = await BenchPhone.start({ engine: 'flite', environment });
    rows.push(await rowOf(phone, setting, app));
    await phone.close();
  }
  app.close();
  folder.remove();
  const share = (stolenSeconds() - stolenBefore) / ((performance.now() - began) / 1000);
  console.log(`${machine()}; ${CALLS} calls, times in ms; stolen ${(100 * share).toFixed(1)} %\n`);
  console.log(table(rows));
}

await main();

// Others that play speech into calls of G.711: rtpengine's media player, told by
// its ng protocol, and baresip, which answers calls. Each is one process on the
// server's processor, and plays a file.
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, isHeld } from '../../fakes/free-port.js';
import { ScratchFolder } from '../../interop/telephone/program.js';
import { type Sound, writeWav } from '../../interop/telephone/sound-shape.js';
import { UdpReceiver } from '../arrivals.js';
import type { Row } from '../table.js';
import { SERVER_CORE } from './bench-phone.js';
import { PinnedProgram } from './pinned-program.js';
import { SippLoad } from './sipp-load.js';
import { idleCores, measured } from './standing-calls.js';

// Dictionaries of strings as rtpengine's ng protocol writes them (bencode).

/** `{command: 'ping'}` → `d7:command4:pinge`; keys in order, as the form demands. */
function bencoded(dictionary: Readonly<Record<string, string>>): string {
  const entries = Object.entries(dictionary).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `d${entries.map((entry) => entry.map(text).join('')).join('')}e`;
}

function text(value: string): string {
  return `${Buffer.byteLength(value)}:${value}`;
}

const RATE = 8000;
const SECONDS = 120; // longer than any run
const START_LIMIT_MS = 10_000;
const ANSWER_LIMIT_MS = 5000;
const SETTLE_MS = 1500;

const TONE: Sound = {
  samples: Float32Array.from(
    { length: SECONDS * RATE },
    (_, n) => 0.3 * Math.sin((2 * Math.PI * 440 * n) / RATE),
  ),
  rate: RATE,
};

/** rtpengine, and the socket that tells it what to do. */
class Rtpengine {
  readonly program: PinnedProgram;
  readonly #control: number;
  readonly #ng = createSocket('udp4');
  readonly #folder: ScratchFolder;

  constructor(program: PinnedProgram, control: number, folder: ScratchFolder) {
    this.program = program;
    this.#control = control;
    this.#folder = folder;
  }

  async playTo(call: string, sink: number, file: string): Promise<void> {
    await this.#join(call, sink, 9);
    await this.#ask({ command: 'play media', ...tagsOf(call), file });
  }

  /** Joins two far ends at one port; the ports that they send to. */
  bridge(call: string, farPort: number): Promise<[number, number]> {
    return this.#join(call, farPort, farPort);
  }

  async close(): Promise<void> {
    this.#ng.close();
    await this.program.close();
    this.#folder.remove();
  }

  async #join(call: string, caller: number, callee: number): Promise<[number, number]> {
    const tags = tagsOf(call);
    const offered = await this.#ask({ command: 'offer', ...tags, sdp: sdpOf(caller) });
    const answer = { command: 'answer', ...tags, 'to-tag': `${call}-b`, sdp: sdpOf(callee) };
    return [portIn(await this.#ask(answer)), portIn(offered)];
  }

  async #ask(question: Readonly<Record<string, string>>): Promise<string> {
    const answer = await new Promise<string>((resolve, reject) => {
      const overdue = setTimeout(
        () => reject(new Error(`rtpengine did not answer "${question['command']}"`)),
        ANSWER_LIMIT_MS,
      );
      this.#ng.once('message', (bytes) => {
        clearTimeout(overdue);
        resolve(bytes.toString('latin1'));
      });
      this.#ng.send(`${++cookies} ${bencoded(question)}`, this.#control, '127.0.0.1');
    });
    if (!answer.includes('6:result2:ok')) throw new Error(`rtpengine: ${answer}`);
    return answer;
  }
}

const tagsOf = (call: string) => ({ 'call-id': call, 'from-tag': `${call}-a` });

const sdpOf = (port: number) =>
  [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP 0`,
    'a=rtpmap:0 PCMU/8000',
    '',
  ].join('\r\n');

function portIn(answer: string): number {
  const port = Number(/m=audio (\d+) /.exec(answer)?.[1] ?? NaN);
  if (!(port > 0)) throw new Error(`rtpengine answered without a port: ${answer}`);
  return port;
}

let cookies = 0;

/** rtpengine on the server's processor, in user space and with one thread. */
export async function openRtpengine(folder = new ScratchFolder()): Promise<Rtpengine> {
  const control = await freePorts();
  const ports = [
    '--port-min=31000',
    '--port-max=40999',
    '--interface=127.0.0.1',
    `--pidfile=${folder.at('pid')}`,
  ];
  const manner = [
    '--config-file=none',
    '--table=-1',
    '--num-threads=1',
    '--media-num-threads=1',
    '--foreground',
    '--log-stderr',
    '--log-level=3',
  ];
  const program = new PinnedProgram(
    SERVER_CORE,
    'rtpengine',
    [...manner, ...ports, `--listen-ng=127.0.0.1:${control}`],
    { stdio: 'ignore' },
  );
  const engine = new Rtpengine(program, control, folder);
  try {
    await until(() => isHeld('udp', control));
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

/** rtpengine plays to so many calls, which it is told of one after the other. */
export async function rtpengineLine(calls: number, measureMs: number): Promise<Row> {
  const folder = new ScratchFolder();
  writeWav(folder.at('tone.wav'), TONE);
  const engine = await openRtpengine(folder);
  try {
    const idle = await idleCores(engine);
    const receiver = await UdpReceiver.open();
    for (let call = 0; call < calls; call++)
      await engine.playTo(`call-${call}`, receiver.port, folder.at('tone.wav'));
    await sleep(SETTLE_MS);
    const row = await (await measured(engine.program, receiver, measureMs, idle))();
    return { player: 'rtpengine 10.5, play media', ...row };
  } finally {
    await engine.close();
  }
}

/** baresip answers so many calls, and plays a file into each. */
export async function baresipLine(calls: number, measureMs: number): Promise<Row> {
  const folder = new ScratchFolder();
  writeWav(folder.at('tone.wav'), TONE);
  const port = await freePorts();
  writeFileSync(folder.at('config'), baresipConfig(port, folder.at('tone.wav'), calls));
  writeFileSync(
    folder.at('accounts'),
    '<sip:bench@127.0.0.1;transport=udp>;regint=0;answermode=auto;audio_codecs=PCMU/8000/1\n',
  );
  writeFileSync(folder.at('contacts'), '');
  const program = new PinnedProgram(SERVER_CORE, 'baresip', ['-f', folder.path], { stdio: 'ignore' });
  try {
    await until(() => isHeld('udp', port));
    const idle = await idleCores({ program });
    const receiver = await UdpReceiver.open();
    const to = { host: '127.0.0.1', port };
    const load = await SippLoad.start({ to, sinkPort: receiver.port, calls, perSecond: 50, holdMs: 600_000 });
    await sleep((1000 * calls) / 50 + SETTLE_MS);
    const finish = await measured(program, receiver, measureMs, idle);
    await load.kill();
    return { player: 'baresip 1.0, aufile', ...(await finish()) };
  } finally {
    await program.close();
    folder.remove();
  }
}

function baresipConfig(port: number, file: string, calls: number): string {
  const lines = [
    ['poll_method', 'epoll'],
    ['sip_listen', `127.0.0.1:${port}`],
    ['net_interface', '127.0.0.1'],
    ['call_max_calls', `${calls}`],
    ['audio_source', `aufile,${file}`],
    ['audio_player', 'aubridge,nobody'],
    ['audio_alert', 'aubridge,nobody to be alerted'],
    ['ausrc_srate', `${RATE}`],
    ['ausrc_channels', '1'],
    ['rtp_ports', '31000-40999'],
    ['module_path', '/usr/lib/baresip/modules'],
    ...['g711.so', 'aufile.so', 'aubridge.so'].map((name) => ['module', name]),
    ['module_tmp', 'account.so'],
    ['module_app', 'menu.so'],
  ];
  return lines.map((line) => `${line.join(' ')}\n`).join('');
}

async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + START_LIMIT_MS;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error('a rival did not start');
    await sleep(50);
  }
}

// baresip as a peer: a user agent with a codec list, SRTP and TLS of its own,
// driven over its control socket. What it hears and says it writes into files.
import { readdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { freePorts, isHeld } from '../../fakes/free-port.js';
import { Program, ScratchFolder } from './program.js';
import type { Address } from './sipp.js';
import { readWav, type Sound, writeWav } from './sound-shape.js';

const MODULES = '/usr/lib/baresip/modules';
const START_LIMIT_MS = 15_000; // making a key for DTLS takes its time
const EVENT_LIMIT_MS = 10_000;
const RTP_PORTS = 8; // of one or two calls

const QUIET_S = 60;
const TONE_RATE = 16_000; // Hz
const TONE: Sound = {
  samples: Float32Array.from(
    { length: 10 * TONE_RATE },
    (_, n) => 0.3 * Math.sin((2 * Math.PI * 440 * n) / TONE_RATE),
  ),
  rate: TONE_RATE,
};

export interface BaresipOptions {
  /** User part of its own address; baresip if absent. */
  readonly user?: string;
  readonly transport?: 'udp' | 'tcp' | 'tls';
  /** Media encryption; none if absent. */
  readonly encryption?: 'srtp' | 'srtp-mand' | 'srtp-mandf' | 'dtls_srtp';
  /** As its accounts name them, such as `opus/48000/2`; all four if absent. */
  readonly codecs?: readonly ('PCMU/8000/1' | 'PCMA/8000/1' | 'G722/16000/1' | 'opus/48000/2')[];
  /** Registrar, which is also the outbound proxy. */
  readonly registrar?: { readonly address: Address; readonly domain: string; readonly password: string };
  /** Credentials for challenges, if there is no registrar. */
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly answers?: 'manual' | 'auto';
  /** Sound that it sends; a tone of 440 Hz if absent. */
  readonly says?: Sound;
  /** Milliseconds; 20 if absent. */
  readonly ptime?: number;
  readonly ice?: boolean;
  /** PEM of its own certificate and key, and of the authority that it trusts. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly authority?: string;
}

interface BaresipEvent {
  readonly type: string;
  readonly id?: string;
  readonly direction?: string;
  readonly peeruri?: string;
  readonly param?: string;
}

interface Reply {
  readonly response?: boolean;
  readonly event?: boolean;
  readonly ok?: boolean;
  readonly data?: string;
  readonly token?: string;
}

export class Baresip {
  readonly address: Address;
  readonly uri: string;
  /** Everything that it told of, in order. */
  readonly events: BaresipEvent[] = [];
  readonly #program: Program;
  readonly #folder: ScratchFolder;
  readonly #control: Socket;
  readonly #replies = new Map<string, (reply: Reply) => void>();
  readonly #waited = new Map<string, number>();
  #commands = 0;
  #unread = Buffer.alloc(0);
  /** Error of the control connection. */
  #trouble: string | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    address: Address,
    options: BaresipOptions,
    program: Program,
    folder: ScratchFolder,
    control: Socket,
  ) {
    this.address = address;
    const { user = 'baresip', transport = 'udp' } = options;
    this.uri = `sip:${user}@${address.host}:${address.port}${transport === 'udp' ? '' : `;transport=${transport}`}`;
    this.#program = program;
    this.#folder = folder;
    this.#control = control;
    control.on('data', (bytes) => this.#read(bytes));
    // Most often the program has ended; its exit code says so.
    control.on('error', ({ message }) => (this.#trouble = message));
    control.on('close', () => (this.#trouble ||= 'it closed the connection'));
  }

  /** Resolves once it can be called and told what to do; registered, too, where it has a registrar. */
  static async start(options: BaresipOptions = {}): Promise<Baresip> {
    const folder = new ScratchFolder();
    const port = await freePorts(2); // the second one for TLS
    const control = await freePorts();
    const place = port + (options.transport === 'tls' ? 1 : 0);
    await writeFiles(folder, options, port, control);
    const program = new Program('baresip', ['-f', folder.path, '-v']);
    try {
      await program.prints(/baresip is ready/, START_LIMIT_MS);
      await program.until('listen', START_LIMIT_MS, () => isHeld('tcp', control));
      const socket = connect(control, '127.0.0.1');
      const baresip = new Baresip({ host: '127.0.0.1', port: place }, options, program, folder, socket);
      if (options.registrar !== undefined) await program.prints(/200 OK .*binding/, EVENT_LIMIT_MS);
      await baresip.command('reginfo');
      return baresip;
    } catch (error) {
      await program.close();
      folder.remove();
      throw error;
    }
  }

  /**
   * A command of its menu, such as `dial`, `accept`, `hangup`, `hold`, `resume`, `mute`, `sndcode`. Resolves
   * with what it printed.
   */
  command(name: string, params = ''): Promise<string> {
    const token = `${++this.#commands}`;
    const json = JSON.stringify({ command: name, params, token });
    return new Promise<string>((resolve, reject) => {
      const overdue = setTimeout(() => reject(this.#failure(`did not answer "${name}"`)), EVENT_LIMIT_MS);
      this.#replies.set(token, ({ ok, data = '' }) => {
        clearTimeout(overdue);
        if (ok === true) resolve(data);
        else reject(this.#failure(`refused "${name} ${params}": ${data}`));
      });
      this.#control.write(`${Buffer.byteLength(json)}:${json},`);
    });
  }

  /**
   * The next event of the type, beginning with the first that nobody waited for; such as CALL_INCOMING,
   * CALL_ESTABLISHED, CALL_CLOSED.
   */
  async told(type: string): Promise<BaresipEvent> {
    const index = () =>
      this.events.findIndex((event, n) => event.type === type && n > (this.#waited.get(type) ?? -1));
    await this.#program.until(
      `tell of ${type} (but ${JSON.stringify(this.events.map((event) => event.type))})`,
      EVENT_LIMIT_MS,
      () => index() >= 0,
    );
    const found = index();
    this.#waited.set(type, found);
    return this.events[found] ?? { type };
  }

  /** Resolves once the condition holds, looked at every 20 ms. */
  until(what: string, withinMs: number, condition: () => boolean): Promise<void> {
    return this.#program.until(what, withinMs, condition);
  }

  /** Sound decoded in the latest call until now; empty before the recording begins. */
  heard(): Sound {
    return this.#recorded('dec');
  }

  /** Sound sent in the latest call. */
  said(): Sound {
    return this.#recorded('enc');
  }

  /** Output of the program. */
  get output(): string {
    return this.#program.output;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#program.close();
    this.#control.destroy();
    this.#folder.remove();
  }

  #recorded(what: 'enc' | 'dec'): Sound {
    const name = readdirSync(this.#folder.path)
      .filter((file) => file.endsWith(`-${what}.wav`))
      .toSorted()
      .at(-1);
    if (name === undefined) return { samples: new Float32Array(), rate: 8000 };
    return readWav(this.#folder.at(name));
  }

  #failure(what: string): Error {
    return new Error(
      `baresip ${what}\n${this.#trouble ?? 'its connection stands'}\n${JSON.stringify(this.events)}\n${this.#program.tail()}`,
    );
  }

  /** Netstrings of JSON: `12:{"a": "b"},`. */
  #read(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (;;) {
      const colon = this.#unread.indexOf(':');
      const end = colon + 1 + Number(this.#unread.toString('latin1', 0, colon));
      if (colon < 0 || this.#unread.length <= end) return;
      const message = JSON.parse(this.#unread.toString('utf8', colon + 1, end)) as Reply & BaresipEvent;
      this.#unread = this.#unread.subarray(end + 1);
      if (message.event === true) this.events.push(message);
      else this.#replies.get(message.token ?? '')?.(message);
    }
  }
}

async function writeFiles(
  folder: ScratchFolder,
  options: BaresipOptions,
  port: number,
  control: number,
): Promise<void> {
  const { certificate, authority, says = TONE, encryption, ice } = options;
  const rtp = await freePorts(RTP_PORTS);
  if (certificate !== undefined) writeFileSync(folder.at('own.pem'), certificate.cert + certificate.key);
  if (authority !== undefined) writeFileSync(folder.at('authority.pem'), authority);
  writeWav(folder.at('says.wav'), withQuiet(says));
  const encryptions =
    encryption === undefined ? [] : [encryption === 'dtls_srtp' ? 'dtls_srtp.so' : 'srtp.so'];
  const modules = [
    'g711.so',
    'g722.so',
    'opus.so',
    'aufile.so',
    'aubridge.so',
    'sndfile.so',
    ...encryptions,
    ...(ice === true ? ['ice.so', 'stun.so'] : []),
  ];
  const lines = [
    ['poll_method', 'epoll'],
    ['sip_listen', `127.0.0.1:${port}`],
    ...(certificate === undefined ? [] : [['sip_certificate', folder.at('own.pem')]]),
    ...(authority === undefined ? [] : [['sip_cafile', folder.at('authority.pem')]]),
    ['net_interface', '127.0.0.1'],
    ['call_local_timeout', '60'],
    ['call_max_calls', '4'],
    ['audio_source', `aufile,${folder.at('says.wav')}`],
    ['audio_player', 'aubridge,nobody'],
    ['audio_alert', 'aubridge,nobody to be alerted'],
    ['ausrc_srate', `${says.rate}`],
    ['ausrc_channels', '1'],
    ['auplay_channels', '1'],
    ['audio_buffer', '20-160'],
    ['rtp_ports', `${rtp}-${rtp + RTP_PORTS - 1}`],
    ['rtcp_mux', 'no'],
    ['jitter_buffer_delay', '1-5'],
    ['snd_path', folder.path],
    ['ctrl_tcp_listen', `127.0.0.1:${control}`],
    ['module_path', MODULES],
    ...modules.map((name) => ['module', name]),
    ['module_tmp', 'account.so'],
    ['module_app', 'menu.so'],
    ['module_app', 'ctrl_tcp.so'],
  ];
  writeFileSync(folder.at('config'), lines.map((line) => `${line.join(' ')}\n`).join(''));
  writeFileSync(folder.at('accounts'), `${account(options)}\n`);
  writeFileSync(folder.at('contacts'), '');
  writeFileSync(folder.at('uuid'), '00000000-0000-4000-8000-000000000000');
}

/** Followed by silence: baresip hangs up when its file ends. */
function withQuiet({ samples, rate }: Sound): Sound {
  const longer = new Float32Array(samples.length + QUIET_S * rate);
  longer.set(samples);
  return { samples: longer, rate };
}

function account({
  user = 'baresip',
  transport = 'udp',
  registrar,
  credentials,
  encryption,
  codecs,
  answers = 'manual',
  ptime,
  ice,
}: BaresipOptions): string {
  const domain = registrar?.domain ?? '127.0.0.1';
  return [
    `<sip:${user}@${domain};transport=${transport}>`,
    `regint=${registrar === undefined ? 0 : 60}`,
    ...(credentials === undefined
      ? []
      : [`auth_user=${credentials.user}`, `auth_pass=${credentials.password}`]),
    ...(registrar === undefined
      ? []
      : [
          `auth_user=${user}`,
          `auth_pass=${registrar.password}`,
          `outbound="sip:${registrar.address.host}:${registrar.address.port};transport=${transport}"`,
        ]),
    ...(encryption === undefined ? [] : [`mediaenc=${encryption}`]),
    ...(codecs === undefined ? [] : [`audio_codecs=${codecs.join(',')}`]),
    ...(ptime === undefined ? [] : [`ptime=${ptime}`]),
    ...(ice === true ? ['medianat=ice'] : []),
    `answermode=${answers}`,
  ].join(';');
}

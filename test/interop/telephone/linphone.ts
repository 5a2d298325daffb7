// Linphone's console client as a peer, driven over its standard input. It plays
// and records files where others have a sound card.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { freePorts, isHeld } from '../../fakes/free-port.js';
import { Program, ScratchFolder } from './program.js';
import type { Address } from './sipp.js';
import { readWav, type Sound, writeWav } from './sound-shape.js';

const START_LIMIT_MS = 10_000;
const LIMIT_MS = 10_000;
const QUIET_S = 1; // before what it says, which it would otherwise begin too early

export interface LinphoneOptions {
  /** Transport of outgoing calls, udp if absent. Incoming calls may use all three. */
  readonly transport?: 'udp' | 'tcp' | 'tls';
  /** Which its calls must have; none if absent. */
  readonly encryption?: 'srtp' | 'dtls';
  /** MIME names in order; all that it has, if absent. */
  readonly codecs?: readonly ('opus' | 'PCMU' | 'PCMA' | 'G722' | 'speex')[];
  /** Sound that it sends in each call; its own greeting if absent. */
  readonly says?: Sound;
  /** PEM of the authority that it trusts over TLS; certificates are not verified if absent. */
  readonly authority?: string;
  /** Credentials for challenges. */
  readonly credentials?: { readonly user: string; readonly password: string; readonly realm: string };
  /** Digits by INFO instead of RTP. */
  readonly digitsByInfo?: boolean;
}

export class Linphone {
  /** Listening addresses: UDP and TCP, and TLS. */
  readonly address: Address;
  readonly tlsAddress: Address;
  readonly uri: string;
  readonly #options: LinphoneOptions;
  readonly #program: Program;
  readonly #folder: ScratchFolder;
  #closed: Promise<void> | undefined;

  private constructor(port: number, options: LinphoneOptions, program: Program, folder: ScratchFolder) {
    this.address = { host: '127.0.0.1', port };
    this.tlsAddress = { host: '127.0.0.1', port: port + 1 };
    this.uri = `sip:linphone@127.0.0.1:${port}`;
    this.#options = options;
    this.#program = program;
    this.#folder = folder;
  }

  /** Resolves once it can be called and told what to do. */
  static async start(options: LinphoneOptions = {}): Promise<Linphone> {
    const folder = new ScratchFolder();
    const port = await freePorts(2);
    writeFileSync(folder.at('linphonerc'), await configuration(port, options, folder));
    for (const name of ['.local/share/linphone', '.config/linphone'])
      mkdirSync(folder.at(name), { recursive: true });
    if (options.says !== undefined) writeWav(folder.at('says.wav'), afterQuiet(options.says));
    const args = ['-c', folder.at('linphonerc'), '-b', '/dev/null'];
    const env = { HOME: folder.path, XDG_DATA_HOME: '', XDG_CONFIG_HOME: '' };
    const program = new Program('linphonec', args, { cwd: folder.path, env });
    const linphone = new Linphone(port, options, program, folder);
    try {
      await linphone.#prepare();
      return linphone;
    } catch (error) {
      await linphone.close();
      throw error;
    }
  }

  /** Begins a call. */
  dial(uri: string): void {
    this.#program.write(`call ${uri}`);
  }

  /**
   * Resolves once its call number `call`, which may come in or go out, counted from 1, has sound both ways.
   */
  async established(call = 1): Promise<void> {
    await this.#program.prints(
      new RegExp(`Media streams established .* for call ${call} \\(audio\\)`),
      LIMIT_MS,
    );
  }

  /** Waits for call number `call` to come in and takes it. */
  async answer(call = 1): Promise<void> {
    await this.#program.prints(new RegExp(`incoming call from .*, assigned id ${call}\\b`), LIMIT_MS);
    this.#program.write(`answer ${call}`);
  }

  /** Ends its calls; resolves when call number `call` is over, whichever side ended it. */
  async hangUp(call = 1): Promise<void> {
    this.#program.write('terminate all');
    await this.ended(call);
  }

  async ended(call = 1): Promise<void> {
    await this.#program.prints(new RegExp(`Call ${call} with .* (?:ended|error)`), LIMIT_MS);
  }

  /** A command of its console. */
  command(line: string): void {
    this.#program.write(line);
  }

  /** Presses one digit in the current call. */
  press(digit: string): void {
    this.#program.write(digit);
  }

  /** Sound received in the latest call; complete once the call has ended. */
  heard(): Sound {
    const path = this.#folder.at('heard.wav');
    return existsSync(path) ? readWav(path) : { samples: new Float32Array(), rate: 8000 };
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
    if (this.#program.isRunning) this.#program.write('quit');
    await this.#program.close();
    this.#folder.remove();
  }

  async #prepare(): Promise<void> {
    const { codecs, says } = this.#options;
    const { port } = this.address;
    await this.#program.until('listen', START_LIMIT_MS, () => isHeld('udp', port) && isHeld('tcp', port));
    this.#program.write('soundcard use files');
    this.#program.write(
      `play ${says === undefined ? '/usr/share/sounds/linphone/hello8000.wav' : this.#folder.at('says.wav')}`,
    );
    this.#program.write(`record ${this.#folder.at('heard.wav')}`);
    this.#program.write('codec list audio');
    await this.#program.prints(/L16 \(44100\)/, START_LIMIT_MS);
    if (codecs === undefined) return;
    for (const [, index = '', name = ''] of this.output.matchAll(/^ *(\d+): (\S+) \(\d+\)/gm)) {
      this.#program.write(`codec ${codecs.some((codec) => codec === name) ? 'enable' : 'disable'} ${index}`);
    }
    this.#program.write('proxy list'); // the answer to which comes when those commands are done
    await this.#program.prints(/proxy list[^]*linphonec>/, START_LIMIT_MS);
  }
}

/** In the files that it plays, what is said begins with the call; the far end may not listen yet. */
function afterQuiet({ samples, rate }: Sound): Sound {
  const later = new Float32Array(samples.length + QUIET_S * rate);
  later.set(samples, QUIET_S * rate);
  return { samples: later, rate };
}

async function configuration(port: number, options: LinphoneOptions, folder: ScratchFolder): Promise<string> {
  const { transport = 'udp', encryption, authority, credentials, digitsByInfo = false } = options;
  const rtp = await freePorts(2);
  if (authority !== undefined) writeFileSync(folder.at('authority.pem'), authority);
  return `[sip]
sip_port=${port}
sip_tcp_port=${port}
sip_tls_port=${transport === 'tls' ? port + 1 : 0}
bind_address=127.0.0.1
contact=sip:linphone@127.0.0.1:${port}
guess_hostname=0
use_ipv6=0
ipv6_migration_done=1
register_only_when_network_is_up=0
verify_server_certs=${authority === undefined ? 0 : 1}
verify_server_cn=${authority === undefined ? 0 : 1}
${authority === undefined ? '' : `root_ca=${folder.at('authority.pem')}\n`}media_encryption=${encryption ?? 'none'}
media_encryption_mandatory=${encryption === undefined ? 0 : 1}
use_info=${digitsByInfo ? 1 : 0}
use_rfc2833=${digitsByInfo ? 0 : 1}
[net]
mtu=1300
dns_srv_enabled=0
[rtp]
audio_rtp_port=${rtp}
audio_jitt_comp=40
bind_address=127.0.0.1
symmetric=1
[sound]
echocancellation=0
[video]
enabled=0
automatically_initiate=0
automatically_accept=0
${credentials === undefined ? '' : `[auth_info_0]\nusername=${credentials.user}\npasswd=${credentials.password}\nrealm=${credentials.realm}\n`}[misc]
uuid=00000000-0000-4000-8000-000000000000
`;
}

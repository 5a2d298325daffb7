// Kamailio as a registrar and proxy: digest, bindings in memory, Record-Route,
// UDP and TCP, and rtpengine for the media where it is told of one.
import { writeFileSync } from 'node:fs';
import { freePorts, isHeld } from '../../fakes/free-port.js';
import { Program, ScratchFolder } from './program.js';
import type { Address } from './sipp.js';

const PROGRAM = process.env['KAMAILIO_PATH'] ?? '/usr/sbin/kamailio'; // Debian's place, not on a user's PATH
const START_LIMIT_MS = 10_000;
// prettier-ignore
const MODULES = [
  'tm', 'tmx', 'sl', 'rr', 'pv', 'maxfwd', 'usrloc', 'registrar', 'textops', 'siputils', 'auth', 'htable', 'xlog', 'corex', 'kex',
];

export interface KamailioOptions {
  /** Its realm, and the domain of its users; parley.test if absent. */
  readonly domain?: string;
  /** Passwords by user. */
  readonly users?: Readonly<Record<string, string>>;
  /** Static routes by user, without registration: SIP URIs without the user. */
  readonly routes?: Readonly<Record<string, string>>;
  /** True if calls must be authenticated with 407. The default is false. */
  readonly challengesCalls?: boolean;
  /** Control port of an rtpengine that all media goes through, and its flags for offer and answer. */
  readonly rtpengine?: { readonly control: Address; readonly flags?: string };
  /** Seconds of the longest registration; 60 if absent. */
  readonly longestS?: number;
}

export class Kamailio {
  readonly address: Address;
  readonly domain: string;
  readonly #program: Program;
  readonly #folder: ScratchFolder;
  #closed: Promise<void> | undefined;

  private constructor(port: number, domain: string, program: Program, folder: ScratchFolder) {
    this.address = { host: '127.0.0.1', port };
    this.domain = domain;
    this.#program = program;
    this.#folder = folder;
  }

  /** Resolves once it listens on UDP and TCP of one port. */
  static async start(options: KamailioOptions = {}): Promise<Kamailio> {
    const folder = new ScratchFolder();
    const port = await freePorts();
    const { domain = 'parley.test' } = options;
    writeFileSync(folder.at('kamailio.cfg'), configuration(port, domain, options));
    // In the foreground, telling of itself on standard error, with little memory, and everything it writes in
    // the folder.
    const place = [
      '-f',
      folder.at('kamailio.cfg'),
      '-w',
      folder.path,
      '-Y',
      folder.path,
      '-P',
      folder.at('pid'),
    ];
    const program = new Program(PROGRAM, [...place, '-DD', '-E', '-e', '-m', '32', '-M', '4']);
    const kamailio = new Kamailio(port, domain, program, folder);
    try {
      await program.until('listen', START_LIMIT_MS, () => isHeld('udp', port) && isHeld('tcp', port));
      return kamailio;
    } catch (error) {
      await kamailio.close();
      throw error;
    }
  }

  /** Log output: one line for each request received, `parley: METHOD from to`. */
  get output(): string {
    return this.#program.output;
  }

  close(): Promise<void> {
    this.#closed ??= this.#program.close().then(() => this.#folder.remove());
    return this.#closed;
  }
}

// One process for a transport keeps messages in order: with two, a 200 can overtake the 180 before it.
function configuration(port: number, domain: string, options: KamailioOptions): string {
  const { users = {}, routes = {}, challengesCalls = false, rtpengine, longestS = 60 } = options;
  const table = (name: string, rows: Readonly<Record<string, string>>): string =>
    Object.entries(rows)
      .map(([key, value]) => `  $sht(${name}=>${key}) = "${value}";\n`)
      .join('');
  const relays = rtpengine !== undefined;
  return `#!KAMAILIO
debug=1
log_stderror=yes
fork=yes
children=1
tcp_children=1
auto_aliases=no
dns=no
rev_dns=no
dns_use_search_list=no
tcp_connection_lifetime=120
listen=udp:127.0.0.1:${port}
listen=tcp:127.0.0.1:${port}
alias="${domain}"
mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/:/usr/lib/aarch64-linux-gnu/kamailio/modules/:/usr/lib/kamailio/modules/"
${[...MODULES, ...(relays ? ['rtpengine'] : [])].map((name) => `loadmodule "${name}.so"\n`).join('')}
modparam("usrloc", "db_mode", 0)
modparam("registrar", "max_expires", ${longestS})
modparam("registrar", "min_expires", 5)
modparam("rr", "enable_double_rr", 1)
modparam("htable", "htable", "users=>size=4;")
modparam("htable", "htable", "routes=>size=4;")
modparam("auth", "nonce_expire", 300)
${relays ? `modparam("rtpengine", "rtpengine_sock", "udp:${rtpengine.control.host}:${rtpengine.control.port}")\n` : ''}
event_route[htable:mod-init] {
  xlog("L_ALERT", "parley: ready\\n");
${table('users', users)}${table('routes', routes)}}

request_route {
  xlog("L_ALERT", "parley: $rm $fu $ru\\n");
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (has_totag()) { route(IN_DIALOG); exit; }
  t_check_trans();
  if (is_method("OPTIONS") && uri == myself && $rU == $null) { sl_send_reply("200", "OK"); exit; }
  if (is_method("REGISTER")) { route(REGISTER); exit; }
${challengesCalls ? `  if (!pv_proxy_authenticate("${domain}", "$sht(users=>$au)", "0")) { proxy_challenge("${domain}", "1"); exit; }\n  consume_credentials();\n` : ''}  record_route();
  if ($sht(routes=>$rU) != $null) { $du = $sht(routes=>$rU); }
  else if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  route(RELAY);
}

route[REGISTER] {
  if (!pv_www_authenticate("${domain}", "$sht(users=>$au)", "0")) { www_challenge("${domain}", "1"); exit; }
  if (!save("location")) sl_reply_error();
}

route[IN_DIALOG] {
  if (!loose_route()) {
    if (is_method("ACK") && t_check_trans()) { t_relay(); exit; }
    if (!is_method("ACK")) sl_send_reply("481", "Call/Transaction Does Not Exist");
    exit;
  }
  route(RELAY);
}

route[RELAY] {
  if (is_method("INVITE|UPDATE|ACK|BYE|PRACK")) route(MEDIA);
  if (is_method("INVITE|UPDATE|PRACK")) t_on_reply("MEDIA");
  if (is_method("INVITE")) t_on_failure("MEDIA");
  if (!t_relay()) sl_reply_error();
}

route[MEDIA] {
${relays ? `  rtpengine_manage("${rtpengine.flags ?? 'replace-origin replace-session-connection'}");\n` : '  return;\n'}}

onreply_route[MEDIA] {
  if (has_body("application/sdp")) route(MEDIA);
}

failure_route[MEDIA] {
  if (!t_is_canceled()) route(MEDIA);
}
`;
}

// Opens the telephone door from the configuration, or says why it stays closed.
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { CallRecord } from '../../src/call/call-record.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import type { Config } from '../../src/config.js';
import { asParleyError } from '../../src/errors.js';
import type { MediaPlane } from '../../src/rtp/media-plane.js';
import { RtpPorts } from '../../src/rtp/rtp-ports.js';
import type { SipConfig } from '../../src/sip-config.js';
import type { Time } from '../../src/time.js';
import { DIGEST_ALGORITHMS } from '../auth/digest-algorithm.js';
import { DigestServer } from '../auth/digest-server.js';
import { Nonces } from '../auth/nonces.js';
import { FAILURE_BOUNDS, Guard, REQUEST_BOUNDS } from '../guard/guard.js';
import { CallMedia } from '../media/call-media.js';
import type { Flow } from '../transport/flow.js';
import { Admission } from './admission.js';
import { Answering } from './answering.js';
import { TelephoneDoor } from './telephone-door.js';
import type { TelephoneLog, TelephoneParts } from './telephone-parts.js';
import { readTelephoneSettings, type TelephoneSettings } from './telephone-settings.js';

export interface TelephoneSurroundings {
  readonly config: Config;
  /** Where trunks find the passwords that they name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plane: MediaPlane;
  readonly switchboard: Switchboard;
  readonly time: Time;
  readonly log: TelephoneLog;
  readonly recorded: (record: CallRecord) => void;
  readonly told: TelephoneParts['told'];
}

const rtp = {
  portMin: 16_384,
  portMax: 32_767,
  drainMs: 30_000,
  dscp: 46,
  timeoutMs: 300_000,
  policy: {
    codecs: ['PCMU', 'PCMA', 'G722', 'opus'] as const,
    packetTimeMs: 20,
    telephoneEvents: true,
    comfortNoise: false,
    rtcpMux: true,
    security: 'prefer' as const,
    keyings: ['sdes'] as const,
    suites: ['AES_CM_128_HMAC_SHA1_80'] as const,
  },
};
const NONCE_MS = 300_000;
const MOST_NONCES = 10_000;
const LOOPBACK = ['127.0.0.0/8', '::1'];
const BURST_SECONDS = 10;

/**
 * Undefined where it is closed: by SIP_ENABLED=0, or because another program has the usual port and nobody chose
 * one. Rejects with CONFIG_INVALID for mistakes, and for a chosen address that cannot be had.
 */
export async function openTelephone(around: TelephoneSurroundings): Promise<TelephoneDoor | undefined> {
  const { config, env, log } = around;
  const { sip } = config;
  if (!sip.enabled) return undefined;
  const settings = readTelephoneSettings(sip, env);
  const ports = openPorts(config);
  const door = new TelephoneDoor({ ...partsOf(around, settings, ports), ports: [...ports.values()] });
  try {
    await door.open();
    return door;
  } catch (error) {
    await door.close();
    if (sip.isStated) throw error;
    const { message: detail } = asParleyError(error, 'CONFIG_INVALID');
    log.warn({ detail }, 'no telephone calls: SIP_PORT chooses another port, SIP_ENABLED=0 none');
    return undefined;
  }
}

function partsOf(around: TelephoneSurroundings, settings: TelephoneSettings, ports: ReadonlyMap<string, RtpPorts>): Omit<TelephoneParts, 'ports'> {
  const { config, switchboard, time, log, recorded, told } = around;
  const { sip } = config;
  const { greeting: text, greetingVoice: voice, greetingLanguage: language } = sip;
  const greeting = { text, ...(voice === undefined ? {} : { voice }), ...(language === undefined ? {} : { language }) };
  return {
    config: sip,
    tls: settings.tls,
    trunks: settings.trunks,
    admission: admissionOf(sip, settings, time),
    answering: new Answering(settings.routes, greeting),
    switchboard,
    openMedia: (peer) => openMedia(around, ports, peer),
    silenceLimitMs: sip.silenceLimitMs,
    time,
    wallMs: () => Date.now(),
    recorded,
    told,
    log,
  };
} // prettier-ignore

function admissionOf(sip: SipConfig, settings: TelephoneSettings, time: Time): Admission {
  const isOpen = sip.allow.length + sip.challenge.length > 0;
  const perSecond = sip.requestsPerSecond;
  const guard = new Guard({
    time,
    allowed: [...(isOpen ? sip.allow : LOOPBACK), ...settings.trunks.flatMap(({ addresses }) => addresses)],
    challenged: sip.challenge,
    requests: { ...REQUEST_BOUNDS, perSecond, burst: perSecond * BURST_SECONDS },
    failures: FAILURE_BOUNDS,
  });
  const { users } = settings;
  if (users.size === 0) return new Admission({ guard, digest: undefined });
  const nonces = new Nonces({ time, secret: randomBytes(32), randomBytes, lifetimeMs: NONCE_MS, mostCounted: MOST_NONCES });
  const algorithms = DIGEST_ALGORITHMS.filter(({ session }) => !session);
  const digest = new DigestServer({ realm: sip.realm, algorithms, qops: ['auth'], nonces, secretOf: (name) => users.get(name) });
  return new Admission({ guard, digest });
} // prettier-ignore

/** By the address listened on: a call's media comes in where its signalling did. */
function openPorts({ sip }: Config): ReadonlyMap<string, RtpPorts> {
  const { portMin, portMax, drainMs, dscp } = rtp;
  return new Map(
    sip.hosts.map((address) => [address, RtpPorts.open({ address, portMin, portMax, drainMs, dscp })]),
  );
}

function openMedia({ config, plane, time, log }: TelephoneSurroundings, ports: ReadonlyMap<string, RtpPorts>, { local }: Pick<Flow, 'local' | 'remote'>): CallMedia {
  const { sip } = config;
  const family = isIP(local.address) === 6 ? 6 : 4;
  const host = sip.hosts.find((item) => item === local.address) ?? sip.hosts.find((item) => isIP(item) === family);
  const mine = ports.get(host ?? '');
  if (mine === undefined) throw new Error(`nothing is listened on for ${local.address}`);
  const told = sip.publicAddresses.find((address) => isIP(address) === family) ?? local.address;
  return CallMedia.open({
    plane,
    ports: mine,
    policy: rtp.policy,
    addresses: family === 6 ? { ip6: told } : { ip4: told },
    time,
    randomBytes,
    rtpTimeoutMs: rtp.timeoutMs,
    log,
  });
} // prettier-ignore

// Supplies the media of telephone calls: ports, policy and addresses for each call.
import { isIP } from 'node:net';
import type { PhoneMediaConfig, SipConfig } from '../../src/config/telephone-config.js';
import { asParleyError } from '../../src/errors.js';
import type { MediaPlane } from '../../src/media/media-plane.js';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import { RtpPorts } from '../../src/media/media-socket.js';
import type { Time } from '../../src/time.js';
import { OwnAddresses, parseAddress } from '../guard/address-list.js';
import type { PacketCounts } from '../media/call-figures.js';
import { CallMedia } from '../media/call-media.js';
import { RandomPool } from '../random-pool.js';
import { CRYPTO_SUITES } from '../sdp/media-keys.js';
import { type Keying, type MediaPolicy, type Security, usualKeyings } from '../sdp/media-policy.js';
import type { Place, TransportName } from '../transport/flow.js';
import type { MediaRequest } from '../trunk/outbound-calls.js';
import type { TrunkSettings } from '../trunk/trunk-settings.js';
import type { Log } from '../../src/log.js';

interface MediaSupplyParts {
  readonly config: { readonly sip: SipConfig; readonly phoneMedia: PhoneMediaConfig };
  readonly plane: MediaPlane;
  readonly time: Time;
  readonly log: Log;
}

const PACKET_MS = 20;
const NO_PACKETS: PacketCounts = { received: 0, lost: 0 };

/** The configured policy, for calls whose trunk does not override it. */
export function mediaPolicy({ sipCodecs, comfortNoise, srtp, srtpKeying }: PhoneMediaConfig): MediaPolicy {
  return {
    codecs: sipCodecs,
    packetTimeMs: PACKET_MS,
    telephoneEvents: true,
    comfortNoise,
    rtcpMux: true,
    security: srtp,
    keyings: srtpKeying ?? usualKeyings(false),
    suites: CRYPTO_SUITES,
  };
}

interface IncomingCall {
  readonly transport: TransportName;
  /** The INVITE has no offer: we make it. */
  readonly offers: boolean;
  /** Settings of its trunk, if there is one, and of the server. */
  readonly trunk: Pick<TrunkSettings, 'srtp' | 'keying' | 'addresses'> | undefined;
  readonly server: { readonly srtp: Security; readonly keying?: readonly Keying[] | undefined };
}

/**
 * Requirements for the media of an incoming call. Browsers accept only DTLS keys and need ICE (RFC 8827),
 * whatever is configured for telephones.
 */
export function incomingMediaRequest({
  transport,
  offers,
  trunk,
  server,
}: IncomingCall): Partial<MediaRequest> {
  const security = trunk?.srtp ?? server.srtp;
  if (transport === 'ws' || transport === 'wss') {
    const offer = offers && security !== 'off' ? ({ srtp: 'require', offerIce: true } as const) : {};
    return { keyings: ['dtls', 'sdes'], ...offer };
  }
  const networks = trunk === undefined || trunk.addresses.length === 0 ? {} : { networks: trunk.addresses };
  const keyings = trunk?.keying ?? server.keying ?? usualKeyings(transport === 'tls');
  return { srtp: trunk?.srtp, keyings, ...networks };
}

export class MediaSupply {
  readonly #parts: MediaSupplyParts;
  readonly #policy: MediaPolicy;
  readonly #random = new RandomPool();
  readonly #certificate = DtlsCertificate.make();
  readonly #own: OwnAddresses;
  #departures = 0;
  /** The packets of closed calls, and those of open calls that were counted so far. */
  #packets: PacketCounts = NO_PACKETS;
  /** Open media, and its packets that are part of `#packets`. */
  readonly #open = new Map<CallMedia, PacketCounts>();
  /** The addresses of our SIP listeners, set once they are known. */
  #signalling: () => readonly Place[] = () => [];
  /** Ports by local address: the media of a call uses the address of its signalling. */
  readonly #ports: ReadonlyMap<string, RtpPorts>;

  constructor(parts: MediaSupplyParts) {
    const { sip, phoneMedia } = parts.config;
    const { rtpPorts, rtpPortDrainMs: drainMs, rtpDscp: dscp } = phoneMedia;
    const [portMin, portMax] = rtpPorts;
    this.#parts = parts;
    this.#own = new OwnAddresses(parts.time);
    this.#ports = new Map(
      sip.hosts.map((address) => [address, RtpPorts.open({ address, portMin, portMax, drainMs, dscp })]),
    );
    this.#policy = mediaPolicy(phoneMedia);
  }

  /** The policy without overrides. */
  get policy(): MediaPolicy {
    return this.#policy;
  }

  /**
   * Opens the media of a call whose signalling uses this local address. Throws CALL_LIMIT if no port is free.
   */
  open(
    localAddress: string,
    { codecs, srtp, keyings, offerIce = false, networks = [] }: Partial<MediaRequest> = {},
  ): CallMedia {
    const { config, plane, time, log } = this.#parts;
    const { host, local, addresses } = this.#addressesFor(localAddress);
    const policy = {
      ...this.#policy,
      codecs: codecs ?? this.#policy.codecs,
      security: srtp ?? this.#policy.security,
      keyings: keyings ?? this.#policy.keyings,
      offerIce,
    };
    const media = this.#opened({
      plane,
      ports: this.#ports.get(host) as RtpPorts,
      policy,
      addresses,
      localAddress: local,
      certificate: this.#certificate,
      forbids: (address, port) => this.#isOurSignalling(address, port),
      networks: [
        ...config.phoneMedia.rtpLatchNetworks,
        ...networks.map((item) => item.replace(/%[^/]*/, '')),
      ],
      departed: () => this.#departures++,
      closed: () => {
        this.#count(media);
        this.#open.delete(media);
      },
      rtpTimeoutMs: config.phoneMedia.rtpTimeoutMs,
      time,
      randomBytes: this.#random.bytes,
      log,
    });
    this.#open.set(media, NO_PACKETS);
    return media;
  }

  /** The caller hears of a busy server only, so the log has the reason. */
  #opened(parts: Parameters<typeof CallMedia.open>[0]): CallMedia {
    try {
      return CallMedia.open(parts);
    } catch (error) {
      const { code, message } = asParleyError(error, 'CALL_LIMIT');
      this.#parts.log.warn({ code, detail: message }, 'no media for a call');
      throw error;
    }
  }

  /** The host whose ports are used, the local address for captures, and the addresses for the peer. */
  #addressesFor(localAddress: string) {
    const { hosts, publicAddresses } = this.#parts.config.sip;
    const signalled = isIP(localAddress);
    const host =
      hosts.find((item) => item === localAddress) ??
      hosts.find((item) => isIP(item) === signalled) ??
      hosts[0] ??
      '';
    const family = isIP(host);
    // Signalling on a WebSocket may use an address without media ports.
    const advertised =
      publicAddresses.find((address) => isIP(address) === family) ?? (isWildcard(host) ? localAddress : host);
    const local = [localAddress, host].find((address) => !isWildcard(address)) ?? advertised;
    return { host, local, addresses: family === 6 ? { ip6: advertised } : { ip4: advertised } };
  }

  /** No media is sent to these addresses. */
  avoid(signalling: () => readonly Place[]): void {
    this.#signalling = signalling;
  }

  /** Number of times that media came from another address than the announced one. */
  get departures(): number {
    return this.#departures;
  }

  /** RTP packets of all callers since the start. Both numbers only grow, as counters must. */
  get packets(): PacketCounts {
    for (const media of this.#open.keys()) this.#count(media);
    return this.#packets;
  }

  /** Adds the packets since the last count of a call. Late packets, which lower its losses, lower no sum. */
  #count(media: CallMedia): void {
    const before = this.#open.get(media) ?? NO_PACKETS;
    const { packets } = media;
    const received = Math.max(packets.received, before.received);
    const lost = Math.max(packets.lost, before.lost);
    this.#open.set(media, { received, lost });
    this.#packets = {
      received: this.#packets.received + received - before.received,
      lost: this.#packets.lost + lost - before.lost,
    };
  }

  /** Port pairs by state, over all addresses. */
  get counts(): { readonly inUse: number; readonly draining: number; readonly free: number } {
    const nowMs = this.#parts.plane.nowMs;
    const sum = { inUse: 0, draining: 0, free: 0 };
    for (const ports of this.#ports.values()) {
      const { pairs, inUse, draining } = ports.counts(nowMs);
      sum.inUse += inUse;
      sum.draining += draining;
      sum.free += pairs - inUse - draining;
    }
    return sum;
  }

  #isOurSignalling(address: string, port: number): boolean {
    const places = this.#signalling().filter((place) => place.port === port);
    if (places.length === 0) return false;
    const { publicAddresses } = this.#parts.config.sip;
    const name = parseAddress(address)?.toString() ?? address;
    const known = [...publicAddresses, ...places.map((place) => place.address)];
    const isLoopback = parseAddress(address)?.range() === 'loopback';
    return isLoopback || this.#own.has(name) || known.some((one) => parseAddress(one)?.toString() === name);
  }

  close(): void {
    for (const ports of this.#ports.values()) ports.close();
    this.#certificate.close();
  }
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::' || address === '';
}

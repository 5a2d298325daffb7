// Builds the SIP layers of one server from its settings: transports, transactions, sessions, and the sender
// of requests.
import { randomInt } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { SipConfig } from '../../src/config/telephone-config.js';
import type { Time } from '../../src/time.js';
import type { CallTaps } from '../capture/call-taps.js';
import { LocatedSender } from '../client/located-sender.js';
import type { PeerJourney } from '../client/request-sender.js';
import { CachedResolver, systemResolver } from '../locator/resolver.js';
import { Locator } from '../locator/locator.js';
import { hostPortText } from '../message/uri.js';
import { CallMedia } from '../media/call-media.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import { RandomPool } from '../random-pool.js';
import type { InboundSession } from '../session/inbound-session.js';
import { UserAgent } from '../session/user-agent.js';
import { LoadGauge } from '../transaction/load-gauge.js';
import { TransactionLayer } from '../transaction/transaction-layer.js';
import type { Wire } from '../transaction/outgoing-request.js';
import type { Flow } from '../transport/flow.js';
import type { ListenerOptions, TlsIdentity } from '../transport/listener-options.js';
import { Transports } from '../transport/transports.js';
import type { ContactMaker } from '../trunk/trunk.js';
import type { SipAdmission, RecentPeers } from './sip-admission.js';

interface SipNetworkParts {
  readonly config: SipConfig;
  readonly tls: TlsIdentity;
  readonly time: Time;
  readonly admission: SipAdmission;
  readonly recentPeers: RecentPeers;
  /** Receives copies of all messages. */
  readonly taps: CallTaps | undefined;
  readonly invited: (session: InboundSession) => void;
  /** Account and transport for requests to the peer that sent an INVITE. */
  readonly journeyFor: (invite: SipRequest, flow: Flow) => PeerJourney | undefined;
  /** Called for every request and response, for metrics. */
  readonly onResponse: (direction: 'in' | 'out', method: string, status: number) => void;
  /** A message caused an unexpected error. */
  readonly failed: (error: unknown, message: SipRequest | SipResponse | undefined) => void;
}

const USER = 'parley';
const PRODUCT = 'Parley';
const RESOLVE_MS = 3000;
const TOKEN_BYTES = 9;

export class SipNetwork {
  readonly transports: Transports;
  readonly transactions: TransactionLayer;
  readonly agent: UserAgent;
  readonly sender: LocatedSender;
  readonly randomBytes = new RandomPool().bytes;
  readonly token = (): string => this.randomBytes(TOKEN_BYTES).toString('hex');
  readonly #load: LoadGauge;

  /** Throws CONFIG_INVALID for an unusable listener. */
  constructor(parts: SipNetworkParts) {
    const { config, tls, time, admission, recentPeers, taps, failed } = parts;
    const received = (bytes: Buffer, flow: Flow): void => {
      if (admission.reads(flow.remote.address, bytes.length)) this.transactions.received(bytes, flow);
    };
    this.transports = new Transports({
      listeners: listenersOf(config, tls),
      client: tls,
      aliases: 'authenticated',
      time,
      admits: (address) => admission.knows(address),
      received,
      tap: taps,
    });
    const { token } = this;
    this.agent = this.#agentOf(parts);
    this.#load = new LoadGauge({ time, delayMs: () => this.transports.queueDelayMs() });
    this.transactions = new TransactionLayer({
      wire: remembering(this.transports, recentPeers),
      user: this.agent,
      time,
      token,
      load: this.#load,
      failed,
    });
    const locator = locatorOf(config, time);
    this.sender = new LocatedSender({ layer: this.transactions, locator, time });
    this.agent.start(this.transactions, this.sender);
  }

  open(): Promise<void> {
    return this.transports.open();
  }

  /**
   * The Contact URI for a peer on this flow. `secure`: with TLS if there is a TLS listener, whatever the flow
   * uses.
   */
  contactFor(flow: Flow, secure = false): string {
    const { transport } = flow;
    const isSecure = transport === 'tls' || transport === 'wss';
    if (secure && !isSecure && this.transports.local('tls') !== undefined) {
      const { address: host, port } = this.transports.advertised('tls', flow);
      return `sips:${USER}@${hostPortText({ host, port })};transport=tls`;
    }
    const place = hostPortText(this.transports.sentBy(flow));
    const over = transport === 'udp' ? '' : `;transport=${transport === 'wss' ? 'ws' : transport}`;
    return `${secure && isSecure ? 'sips' : 'sip'}:${USER}@${place}${over}`;
  }

  /**
   * The flow shows whether TLS is used, whether the URI or DNS asked for it. Otherwise the callee would
   * answer in the clear.
   */
  readonly contactOf: ContactMaker = (user, transport = 'udp', flow) => {
    const isTls = flow?.transport === 'tls';
    const { address, port } = this.transports.advertised(transport, flow);
    const place = isTls ? this.transports.sentBy(flow) : { host: address, port };
    const over = isTls ? 'tls' : transport;
    return `sip:${user}@${hostPortText(place)}${over === 'udp' ? '' : `;transport=${over}`}`;
  };

  /** The share of new calls that is refused now because of overload. */
  get refusedShare(): number {
    return this.#load.share;
  }

  /** The addresses of the listeners, for the log: `udp 127.0.0.1:5060`. */
  get listening(): readonly string[] {
    return this.transports.places.map(
      ({ transport, place: { address: host, port } }) => `${transport} ${hostPortText({ host, port })}`,
    );
  }

  /** Resolves when all sockets and timers are closed. */
  async close(): Promise<void> {
    this.#load.close();
    this.transactions.close();
    await this.transports.close();
  }

  #agentOf({ config, time, admission, taps, invited, journeyFor, onResponse }: SipNetworkParts): UserAgent {
    return new UserAgent({
      time,
      token: this.token,
      admission,
      invited,
      randomInt,
      product: PRODUCT,
      contactFor: (flow, secure) => `<${this.contactFor(flow, secure)}>`,
      journeyFor,
      sessionSeconds: config.sessionSeconds,
      leastSeconds: config.leastSessionSeconds,
      onResponse,
      carried: (callId, media) => {
        if (media instanceof CallMedia) taps?.carries(callId, media);
      },
    });
  }
}

/** Records each address that is written to: it may answer. */
function remembering(wire: Wire, recentPeers: RecentPeers): Wire {
  return {
    send: (target, bytesFor) =>
      wire.send(target, (flow) => {
        recentPeers.wrote(flow.remote.address);
        return bytesFor(flow);
      }),
    respond: (bytes, via, flow) => wire.respond(bytes, via, flow),
    viaFor: (flow, branch) => wire.viaFor(flow, branch),
    alias: (flow, via) => wire.alias?.(flow, via),
  };
}

function locatorOf(config: SipConfig, time: Time): Locator {
  return new Locator({
    resolver: new CachedResolver(systemResolver(RESOLVE_MS), time),
    random: Math.random,
    transports: config.tlsPort === undefined ? ['udp', 'tcp', 'tls'] : ['tls', 'udp', 'tcp'],
    families: familiesOf(config),
  });
}

function familiesOf({ hosts }: SipConfig): (4 | 6)[] {
  return [...new Set(hosts.map((host) => (isIPv6(host) ? 6 : 4)))];
}

function listenersOf(config: SipConfig, tls: TlsIdentity): ListenerOptions[] {
  return config.hosts.flatMap((host): ListenerOptions[] => {
    const advertised = config.publicAddresses.find((address) => isIP(address) === isIP(host));
    const place = { host, advertised: advertised === undefined ? undefined : { host: advertised } };
    const plain = (['udp', 'tcp'] as const).map((transport) => ({ ...place, transport, port: config.port }));
    return config.tlsPort === undefined
      ? plain
      : [...plain, { ...place, transport: 'tls', port: config.tlsPort, tls }];
  });
}

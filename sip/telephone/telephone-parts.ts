// What the telephone door is built from.
import type { CallRecord } from '../../src/call/phone-calls.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import type { SipConfig } from '../../src/config/telephone-config.js';
import type { Time } from '../../src/time.js';
import type { CallMedia } from '../media/call-media.js';
import type { TlsIdentity } from '../transport/tls-identity.js';
import type { MediaWish } from '../trunk/outbound-calls.js';
import type { TrunkSettings } from '../trunk/trunk-settings.js';
import type { DigestServer } from '../auth/digest-server.js';
import type { Guard } from '../guard/guard.js';
import type { Answering } from './answering.js';
import type { RecentPeers } from './recent-peers.js';
import type { CaptureOpener } from './open-captures.js';
import type { MediaSupply } from './media-supply.js';

export interface TelephoneLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface TelephoneParts {
  readonly config: SipConfig;
  readonly tls: TlsIdentity;
  readonly trunks: readonly TrunkSettings[];
  /** Of calls whose trunk says nothing of it. */
  readonly srtp: NonNullable<TrunkSettings['srtp']>;
  readonly keying?: TrunkSettings['keying'] | undefined;
  /** Who may call; `allowedNow` are addresses that are found out at run time. */
  readonly guardOf: (allowedNow: (address: string) => boolean) => Guard;
  readonly digest: DigestServer | undefined;
  /** Absent where nothing is captured. */
  readonly captures?: CaptureOpener | undefined;
  readonly recentPeers: RecentPeers;
  readonly answering: Answering;
  readonly switchboard: Pick<Switchboard, 'open' | 'check'>;
  /** For a call whose signalling is at this address of ours. CALL_LIMIT where no port is free. */
  readonly openMedia: (localAddress: string, wish?: Partial<MediaWish>) => CallMedia;
  readonly ports: () => MediaSupply['counts'];
  /** Times that a call's media was found at another address than the announced one. */
  readonly departures?: () => number;
  /** What else ends with the door. */
  readonly ended: () => Promise<void>;
  readonly silenceLimitMs: number;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly recorded: (record: CallRecord) => void;
  readonly told: (direction: 'in' | 'out', method: string, status: number) => void;
  readonly log: TelephoneLog;
}

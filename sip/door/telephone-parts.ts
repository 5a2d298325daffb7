// What the telephone door is built from.
import type { CallRecord } from '../../src/call/call-record.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import type { RtpPorts } from '../../src/rtp/rtp-ports.js';
import type { SipConfig } from '../../src/sip-config.js';
import type { Time } from '../../src/time.js';
import type { CallMedia } from '../media/call-media.js';
import type { Flow } from '../transport/flow.js';
import type { TlsIdentity } from '../transport/tls-identity.js';
import type { TrunkSettings } from '../trunk/trunk-settings.js';
import type { Admission } from './admission.js';
import type { Answering } from './answering.js';

export interface TelephoneLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}

export interface TelephoneParts {
  readonly config: SipConfig;
  readonly tls: TlsIdentity;
  readonly trunks: readonly TrunkSettings[];
  readonly admission: Admission;
  readonly answering: Answering;
  readonly switchboard: Pick<Switchboard, 'open' | 'check'>;
  /** Media for a peer on this flow, or at this address. CALL_LIMIT where no port is free. */
  readonly openMedia: (peer: Pick<Flow, 'local' | 'remote'>) => CallMedia;
  /** Closed with the door. */
  readonly ports: readonly RtpPorts[];
  readonly silenceLimitMs: number;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly recorded: (record: CallRecord) => void;
  readonly told: (direction: 'in' | 'out', method: string, status: number) => void;
  readonly log: TelephoneLog;
}

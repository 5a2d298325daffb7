// The functions of the addon for DTLS (native/binding/dtls_binding.cc). A handle
// that names nothing any more is answered with null, never thrown.
import { loadAddon } from '../addon.js';
import type { SrtpKeys } from './media-addon.js';

export interface DtlsKeys {
  readonly send: SrtpKeys;
  readonly receive: SrtpKeys;
}

/** What is to be done after a call. */
export interface DtlsStep {
  readonly state: 'new' | 'handshaking' | 'open' | 'closed' | 'failed';
  readonly failure: '' | 'fingerprint' | 'no-profile' | 'protocol';
  readonly reason: string;
  /** Until `dtlsHandleTimeout`; -1: nothing has to be sent again. */
  readonly timeoutMs: number;
  /** Datagrams to send. */
  readonly output: readonly Uint8Array[];
}

export interface DtlsAddon {
  identityMake(): number;
  identityFingerprint(identity: number): string | null;
  identityClose(identity: number): void;
  /** `fingerprints` are groups of two: hash, digest. */
  dtlsOpen(
    identity: number,
    options: { active: boolean; fingerprints: readonly string[]; retransmitMs: number },
  ): number;
  dtlsStart(association: number): DtlsStep | null;
  dtlsReceive(association: number, data: Uint8Array): DtlsStep | null;
  dtlsHandleTimeout(association: number): DtlsStep | null;
  /** Null where it is not open. */
  dtlsKeys(association: number): DtlsKeys | null;
  /** The last datagrams to send. */
  dtlsClose(association: number): readonly Uint8Array[] | null;
}

let loaded: DtlsAddon | undefined;

export function dtlsAddon(): DtlsAddon {
  return (loaded ??= loadAddon<DtlsAddon>());
}

// DTLS 1.2 records as bytes (RFC 6347 section 4.1), and a check of those that arrive without protection.
//
// Anybody can write an unprotected record. Of these, a DTLS implementation may see only what a handshake
// consists of: an unprotected alert, or a record of another type, could end the handshake or the association.

export const DTLS_TYPE = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;

export const FINISHED = 20; // the handshake message, which is always protected

export interface DtlsRecord {
  readonly type: number;
  readonly epoch: number;
  /** Header and fragment. */
  readonly bytes: Uint8Array;
  readonly fragment: Uint8Array;
}

/** The role of the end that sent a record. */
export type DtlsSender = 'client' | 'server';

const FATAL = 2;
const HEADER_BYTES = 13;
const SEQUENCE_AT = 5;
const HANDSHAKE_HEADER_BYTES = 12;
const VERSION_MAJOR = 0xfe; // DTLS 1.0 and 1.2; the first record of a handshake may state either
const MAX_MESSAGE_BYTES = 100 * 1024; // OpenSSL's limit for a certificate chain

/** Message types of RFC 5246 section 7.4, RFC 5077 and RFC 6066 that a full handshake sends unprotected. */
const MESSAGES: Readonly<Record<DtlsSender, ReadonlySet<number>>> = {
  client: new Set([1, 11, 15, 16]),
  server: new Set([2, 3, 4, 11, 12, 13, 14, 22]),
};

/**
 * The records of a datagram, in order. A record that is cut short ends the list; other versions are left out.
 */
export function readDtlsRecords(datagram: Uint8Array): DtlsRecord[] {
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  const records: DtlsRecord[] = [];
  for (let at = 0; at + HEADER_BYTES <= datagram.length;) {
    const end = at + HEADER_BYTES + view.getUint16(at + 11);
    if (end > datagram.length) break;
    if (view.getUint8(at + 1) === VERSION_MAJOR) {
      records.push({
        type: view.getUint8(at),
        epoch: view.getUint16(at + 3),
        bytes: datagram.subarray(at, end),
        fragment: datagram.subarray(at + HEADER_BYTES, end),
      });
    }
    at = end;
  }
  return records;
}

/** True for a record of epoch 0 that can be part of a handshake with `sender`. */
export function isHandshakeRecord({ type, epoch, fragment }: DtlsRecord, sender: DtlsSender): boolean {
  if (epoch !== 0) return false;
  if (type === DTLS_TYPE.changeCipherSpec) return fragment.length === 1 && fragment[0] === 1;
  return type === DTLS_TYPE.handshake && isHandshake(fragment, MESSAGES[sender]);
}

/** True for one or more whole fragments of handshake messages of these types (RFC 6347 section 4.2.2). */
export function isHandshake(fragment: Uint8Array, types: ReadonlySet<number>): boolean {
  const view = new DataView(fragment.buffer, fragment.byteOffset, fragment.byteLength);
  const uint24 = (at: number) => (view.getUint8(at) << 16) | view.getUint16(at + 1);
  let at = 0;
  while (at + HANDSHAKE_HEADER_BYTES <= fragment.length) {
    const [length, offset, bytes] = [uint24(at + 1), uint24(at + 6), uint24(at + 9)];
    if (!types.has(view.getUint8(at)) || length > MAX_MESSAGE_BYTES || offset + bytes > length) return false;
    if (bytes === 0 && length > 0) return false;
    at += HANDSHAKE_HEADER_BYTES + bytes;
  }
  return at === fragment.length && at > 0;
}

/**
 * The datagram as far as an end that has no keys yet may read it: without unprotected records that are no
 * part of a handshake, and without records of unknown type. Undefined where nothing is left.
 *
 * Unprotected records are numbered anew by `number`. Otherwise a forged one with a high number would make all
 * that follow look like replays.
 */
export function handshakeDatagram(
  datagram: Uint8Array,
  sender: DtlsSender,
  number: () => number,
): Uint8Array | undefined {
  const kept = readDtlsRecords(datagram).filter((record) =>
    record.epoch === 0
      ? isHandshakeRecord(record, sender)
      : record.type >= DTLS_TYPE.changeCipherSpec && record.type <= DTLS_TYPE.applicationData,
  );
  if (kept.length === 0) return undefined;
  const records = kept.map(({ epoch, bytes }) => {
    const copy = Buffer.from(bytes);
    if (epoch === 0) copy.writeUIntBE(number(), SEQUENCE_AT, 6);
    return copy;
  });
  return Buffer.concat(records);
}

/** True for a datagram with an unprotected handshake message. */
export function hasHandshake(datagram: Uint8Array): boolean {
  return readDtlsRecords(datagram).some(({ type, epoch }) => type === DTLS_TYPE.handshake && epoch === 0);
}

/** The description of the first unprotected fatal alert in a datagram (RFC 5246 section 7.2). */
export function unprotectedAlert(datagram: Uint8Array): number | undefined {
  const alert = readDtlsRecords(datagram).find(
    ({ type, epoch, fragment }) => type === DTLS_TYPE.alert && epoch === 0 && fragment[0] === FATAL,
  );
  return alert?.fragment[1];
}

// DTLS datagrams that an attacker without keys can send.

const ALERT = '0100'; // warning, close_notify

export function record(
  type: number,
  epoch: number,
  fragment: string,
  version = 0xfefd,
  sequence = 0,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt8(type, 0);
  header.writeUInt16BE(version, 1);
  header.writeUInt16BE(epoch, 3);
  header.writeUIntBE(sequence, 5, 6);
  header.writeUInt16BE(fragment.length / 2, 11);
  return Buffer.concat([header, Buffer.from(fragment, 'hex')]);
}

const types = Array.from({ length: 256 }, (_, type) => type);

/** One record each, several records in one datagram, and datagrams that are no records. */
export const FORGED: readonly Buffer[] = [
  ...types.flatMap((type) => [0, 1].map((epoch) => record(type, epoch, ALERT))),
  ...types.map((type) => Buffer.concat([record(23, 1, ALERT), record(type, 0, ALERT), record(21, 1, ALERT)])),
  ...types.map((type) => record(type, 0, '')),
  ...[2, 3, 0xffff].flatMap((epoch) => [20, 21, 22, 23, 24].map((type) => record(type, epoch, ALERT))),
  ...[0x0000, 0x0303, 0xfeff, 0xfefc].map((version) => record(21, 0, ALERT, version)),
  ...[20, 21, 22, 23, 63].flatMap((type) =>
    Array.from({ length: 30 }, (_, length) => Buffer.alloc(length + 1, type)),
  ),
  ...['0101', '0228', '0000', '01', ''].map((alert) => record(21, 0, alert)),
  Buffer.concat([record(21, 0, ALERT), Buffer.from([1])]),
];

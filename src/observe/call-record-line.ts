// The one line that the log has of a telephone call that is over. It holds no
// words of callers, and of numbers the last two digits: a log is read by more
// people than may know who called whom.
import type { CallRecord } from '../call/phone-calls.js';

const SHOWN_DIGITS = 2;
const ADDRESS = /^([a-z][a-z0-9+.-]*:)?([^@;?]*)(@[^;?]*)?/i;

export interface LineOptions {
  /** Numbers are written whole. */
  readonly numbers: boolean;
}

/** Fields of the line; what is undefined does not stand in it. */
export function callRecordLine(record: CallRecord, { numbers }: LineOptions): Record<string, unknown> {
  const {
    id: call,
    end,
    startedAt,
    answeredAt,
    endedAt,
    sent,
    received,
    remote,
    setupMs,
    firstAudioMs,
    headers: _words,
    ...rest
  } = record;
  const shown = (address: string | undefined) =>
    address === undefined || numbers ? address : maskedAddress(address);
  return {
    call,
    ...rest,
    from: shown(rest.from),
    to: shown(rest.to),
    transferredTo: shown(rest.transferredTo),
    end: end.reason,
    status: end.status,
    cause: end.cause,
    detail: end.detail,
    ms: whole(endedAt - startedAt),
    setupMs: whole(setupMs),
    firstAudioMs: whole(firstAudioMs),
    connectedMs: answeredAt === undefined ? undefined : whole(endedAt - answeredAt),
    packetsSent: sent?.packets,
    silencePackets: sent?.silencePackets,
    underruns: sent?.underruns,
    packetsReceived: received?.packets,
    loss: rounded(received?.loss, 10_000),
    jitterMs: tenths(received?.jitterMs),
    mos: rounded(received?.mos, 100),
    remoteLoss: rounded(remote?.loss, 10_000),
    remoteJitterMs: tenths(remote?.jitterMs),
    rttMs: tenths(remote?.rttMs ?? undefined),
  };
}

function whole(ms: number | undefined): number | undefined {
  return rounded(ms, 1);
}

function tenths(ms: number | undefined): number | undefined {
  return rounded(ms, 10);
}

/** To parts of one: a log is read by people. */
function rounded(value: number | undefined, parts: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * parts) / parts;
}

/** `sip:+491701234567@trunk.example;user=phone` → `sip:+**********67@trunk.example`: parameters go, the host stays. */
export function maskedAddress(address: string): string {
  const [, scheme = '', user = '', host = ''] = ADDRESS.exec(address) ?? [];
  return `${scheme}${maskedUser(user)}${host}`;
}

/** Of a number all but its last digits; of a name everything, its length too. */
function maskedUser(user: string): string {
  if (!/^\+?[\d().\- *#]+$/.test(user)) return user === '' ? '' : '***';
  const digits = user.replace(/\D/g, '');
  const hidden = Math.max(digits.length - SHOWN_DIGITS, Math.min(digits.length, SHOWN_DIGITS));
  return `${user.startsWith('+') ? '+' : ''}${'*'.repeat(hidden)}${digits.slice(hidden)}`;
}

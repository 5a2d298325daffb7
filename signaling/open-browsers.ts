// Opens the server of browser calls with what it owns: its certificate, sockets and admission of calls.
import { availableParallelism } from 'node:os';
import { CallAdmission } from '../src/call/call-admission.js';
import type { CallerTexts } from '../src/call/caller-texts.js';
import type { MessageRateLimits } from '../src/call/client-limits.js';
import type { CallPrograms } from '../src/call/call-programs.js';
import type { CallHandler, ChannelDialect } from '../src/call/call-handler.js';
import type { ListedCalls } from '../src/call/listed-calls.js';
import type { Switchboard } from '../src/call/switchboard.js';
import type { Config } from '../src/config/config.js';
import type { EncoderPool } from '../src/encoding/encoder-pool.js';
import { DtlsCertificate } from '../src/media/dtls-association.js';
import type { MediaPlane } from '../src/media/media-plane.js';
import type { Log } from '../src/log.js';
import type { Time } from '../src/time.js';
import { BrowserServer } from './browser-server.js';
import { BrowserSockets } from './browser-sockets.js';

// Limit of one data channel: several times the tokens of a fast model.
const MESSAGES: MessageRateLimits = { perSecond: 500, burst: 1000 };

interface BrowserParts {
  readonly config: Pick<Config, 'webrtc' | 'texts' | 'limits'>;
  readonly log: Log;
  readonly plane: MediaPlane;
  readonly switchboard: Switchboard;
  readonly handler?: CallHandler | undefined;
  readonly programs?: CallPrograms | undefined;
  readonly listed?: Pick<ListedCalls, 'add'>;
  readonly callerTexts?: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly dialects?: readonly ChannelDialect[];
  readonly encoders: Pick<EncoderPool, 'load'>;
  /** Name of the API key that another room's call belongs to; undefined if it belongs to every key. */
  readonly ownerOf: (id: string) => string | undefined;
  readonly time: Time;
  /** Cryptographically strong. */
  readonly randomBytes: (count: number) => Buffer;
}

/** Throws CONFIG_INVALID if a port cannot be opened. */
export function openBrowsers(parts: BrowserParts): { server: BrowserServer; close(): Promise<void> } {
  const { config, log, plane, encoders, time } = parts;
  const sockets = new BrowserSockets(plane, config.webrtc);
  if (sockets.notice !== undefined) log.warn({}, sockets.notice);
  const certificate = DtlsCertificate.make();
  const admission = new CallAdmission({
    maxCpuPercent: config.webrtc.maxCpuPercent,
    cores: availableParallelism(),
    cpuMicroseconds: () => process.cpuUsage().user + process.cpuUsage().system,
    encoderLoad: () => encoders.load,
    eventLoop: () => performance.eventLoopUtilization(),
    time,
  });
  const server = new BrowserServer({
    ...parts,
    certificate,
    sockets,
    overload: () => admission.refusal(),
    setupTimeoutMs: config.limits.setupTimeoutMs,
    resumeGraceMs: config.webrtc.resumeGraceMs,
    limits: { maxTextLength: config.texts.maxTextLength, messages: MESSAGES },
  });
  const close = async () => {
    await server.close();
    admission.close();
    sockets.close();
    certificate.close();
  };
  return { server, close };
}

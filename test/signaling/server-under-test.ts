// Opens the browser server with the real call room and media plane behind it, on the loopback interface.
// There is no engine, because nothing is spoken.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { OPUS_SPEECH } from '../../src/codecs/opus.js';
import type { ListedCalls } from '../../src/call/listed-calls.js';
import type { CallPrograms } from '../../src/call/call-programs.js';
import type { CallHandler, ChannelDialect } from '../../src/call/call-handler.js';
import type { ClientLimits } from '../../src/call/client-limits.js';
import { Switchboard } from '../../src/call/switchboard.js';
import type { Time } from '../../src/time.js';
import { ParleyError } from '../../src/errors.js';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { BrowserServer } from '../../signaling/browser-server.js';
import { BrowserSockets } from '../../signaling/browser-sockets.js';
import { ManualTime } from '../fakes/manual-time.js';
import { WeriftClient } from './werift-client.js';
import { SILENT_LOG } from '../../src/log.js';

/** A client with its call, once both can talk. */
export async function connect(t: TestContext, under: ServerUnderTest, client = new WeriftClient()) {
  t.after(() => client.close());
  const { id, sdp, token = '' } = await under.server.open({ sdp: await client.offer() });
  await client.accept(sdp);
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  const call = under.switchboard.get(id);
  assert.ok(call !== undefined);
  return { client, id, sdp, token, call };
}

const MESSAGES = { perSecond: 500, burst: 1000 };

interface ServerUnderTest {
  readonly server: BrowserServer;
  readonly switchboard: Switchboard;
  readonly plane: MediaPlane;
  /** Milliseconds that the clock of the connections is ahead of the plane's: so long they seem unheard. */
  aheadMs: number;
  readonly time: ManualTime;
  /** Phrases with their call's reason or code. */
  readonly log: string[];
  /** Resolves when there is such a line in the log. */
  logged(line: RegExp): Promise<void>;
}

interface ServerOptions {
  readonly maxCalls?: number;
  readonly clientLimits?: ClientLimits;
  readonly resumeGraceMs?: number;
  /** Time of the connections, where the test does not control it: handshakes are repeated by it. */
  readonly connectionTime?: Time;
  readonly tcpPort?: number;
  readonly udpPorts?: readonly [number, number];
  readonly handler?: CallHandler;
  readonly programs?: Pick<CallPrograms, 'conduct' | 'problemOf'>;
  readonly listed?: Pick<ListedCalls, 'add'>;
  readonly dialects?: readonly ChannelDialect[];
}

export async function openServer(
  t: TestContext,
  {
    maxCalls = 10,
    clientLimits,
    resumeGraceMs = 0,
    udpPorts,
    tcpPort,
    connectionTime,
    ...conductors
  }: ServerOptions = {},
): Promise<ServerUnderTest> {
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const time = new ManualTime(1000);
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const write = ({ reason, code, detail, path }: Record<string, unknown>, message: string) => {
    const words = [message, reason, code, path, detail].filter((part) => typeof part === 'string');
    log.push(words.join(': '));
    for (const look of waiting) look();
  };
  const logged = (line: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!log.some((written) => line.test(written))) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const switchboard = openSwitchboard({ maxCalls, ...(clientLimits && { clientLimits }) }, time, write);
  const certificate = DtlsCertificate.make();
  const sockets = new BrowserSockets(plane, {
    hostAddresses: ['127.0.0.1'],
    announcedAddresses: [],
    udpPort: 0,
    udpPorts,
    tcpPort,
    iceServers: [],
  });
  const under = { aheadMs: 0 };
  const server = new BrowserServer({
    ...conductors,
    switchboard,
    plane: {
      openStream: (...stream) => plane.openStream(...stream),
      openListener: (...listener) => plane.openListener(...listener),
      get nowMs() {
        return plane.nowMs + under.aheadMs;
      },
    },
    certificate,
    sockets,
    time: connectionTime ?? time,
    randomBytes,
    log: { ...SILENT_LOG, info: write, warn: write },
    setupTimeoutMs: 20_000,
    resumeGraceMs,
    limits: { maxTextLength: 1000, messages: MESSAGES },
  });
  t.after(async () => {
    await server.close();
    await switchboard.close();
    sockets.close();
    certificate.close();
    plane.close();
  });
  return Object.assign(under, { server, switchboard, plane, time, log, logged });
}

function openSwitchboard(
  limits: Pick<ConstructorParameters<typeof Switchboard>[1], 'maxCalls' | 'clientLimits'>,
  time: Time,
  write: (fields: Record<string, unknown>, message: string) => void,
): Switchboard {
  let count = 0;
  const noEngine = () => new ParleyError('ENGINE_UNAVAILABLE', 'there is no engine in this test');
  return new Switchboard(
    {
      routing: {
        voices: () => Promise.resolve([]),
        resolve: () => {
          throw noEngine();
        },
      },
      encoders: {
        open: () => {
          throw noEngine();
        },
        handOver: () => {
          throw noEngine();
        },
        settings: { opus: OPUS_SPEECH, trim: {} },
        complexity: OPUS_SPEECH.complexity,
      },
      limits: { maxTextLength: 1000, textIdleMs: 10_000, maxWaitingUtterances: 3 },
      time,
      log: { ...SILENT_LOG, info: write, warn: write },
      metrics: {
        callOpened: () => undefined,
        callClosed: () => undefined,
        utteranceEnded: () => undefined,
        firstAudio: () => undefined,
        turnEnded: () => undefined,
        bargeIn: () => undefined,
      },
    },
    { ...limits, newId: () => `call-${++count}` },
  );
}

// A session of WHIP or WHEP that a page of another origin has opened with a client of another maker, as its
// test sees it.
import assert from 'node:assert/strict';
import type { Call } from '../../src/call/call.js';
import type { Server } from '../../src/main.js';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../fakes/until.js';
import type { EvaluatingPage } from './page-origin.js';

interface RequestMade {
  readonly method: string;
  readonly status: number;
  readonly condition?: string;
  readonly etag: string | null;
}

interface SessionStats {
  readonly state: string;
  /** Milliseconds since the epoch, by the page's clock. */
  readonly atMs: number;
  readonly heard?: { readonly packetsReceived: number; readonly totalAudioEnergy: number };
  readonly sent?: { readonly packetsSent: number };
  /** From receiver reports of the server. */
  readonly reported?: { readonly packetsLost: number; readonly timestamp: number };
  readonly local?: {
    readonly candidateType: string;
    readonly protocol: string;
    readonly relayProtocol?: string;
  };
}

/** Names of the page's clients. */
type ClientName =
  | 'whip-whep publishes'
  | 'whip-whep listens'
  | 'whip-web-client publishes'
  | 'whip-web-client publishes with video';

export class WhipSession {
  readonly id: string;
  readonly call: Call;
  readonly #page: EvaluatingPage;

  private constructor(page: EvaluatingPage, id: string, call: Call) {
    this.#page = page;
    this.id = id;
    this.call = call;
  }

  /** Resolves when the session is connected. */
  static async open(
    page: EvaluatingPage,
    { url, switchboard }: Pick<Server, 'url' | 'switchboard'>,
    client: ClientName,
    configuration: object = {},
  ): Promise<WhipSession> {
    const path = client.includes('publishes') ? '/whip' : '/whep';
    const words = [client, `${url}${path}`, configuration].map((word) => JSON.stringify(word));
    const resource = await page.evaluate<string>(`openSession(${words.join(', ')})`);
    assert.ok(resource.startsWith(`${url}${path}/sessions/`), resource);
    const id = decodeURIComponent(resource.split('/').at(-1) ?? '');
    await until(() => switchboard.get(id) !== undefined);
    const call = switchboard.get(id);
    assert.ok(call !== undefined);
    return new WhipSession(page, id, call);
  }

  stats(): Promise<SessionStats> {
    return this.#page.evaluate('session.stats()');
  }

  /** Requests of the page, in the order of their answers. */
  requests(): Promise<RequestMade[]> {
    return this.#page.evaluate('session.requests');
  }

  /** Speaks, and resolves once the page has heard a second of it. */
  async hearsASecond(): Promise<void> {
    const { heard: before = { packetsReceived: 0, totalAudioEnergy: 0 } } = await this.stats();
    const utterance = this.call.speak('Good morning, and thank you for calling. Your order is on its way.');
    await this.#until(({ heard }) => {
      if (heard === undefined) return false;
      const energy = heard.totalAudioEnergy - before.totalAudioEnergy;
      return heard.packetsReceived - before.packetsReceived >= PACKETS_A_SECOND && energy > AUDIBLE;
    });
    await utterance.ended;
  }

  /** Resolves once the page has sent a second of sound, whether or not it shows the reports on it. */
  async sendsUnreported(): Promise<void> {
    const { sent: before = { packetsSent: 0 } } = await this.stats();
    const { state } = await this.#until(
      ({ sent }) => sent !== undefined && sent.packetsSent - before.packetsSent >= PACKETS_A_SECOND,
    );
    assert.equal(state, 'connected');
  }

  /** Resolves once the page has sent a second of sound, and the server has then reported that it came. */
  async sendsASecond(): Promise<void> {
    const { sent: before = { packetsSent: 0 }, atMs } = await this.stats();
    const { reported } = await this.#until(
      (stats) =>
        stats.sent !== undefined &&
        stats.sent.packetsSent - before.packetsSent >= PACKETS_A_SECOND &&
        stats.reported !== undefined &&
        stats.reported.timestamp > atMs,
    );
    assert.equal(reported?.packetsLost, 0);
  }

  /** Looks until the page's statistics are as wanted; rejects with them if they are not within a limit. */
  async #until(isWanted: (stats: SessionStats) => boolean): Promise<SessionStats> {
    const limit = performance.now() + LIMIT_MS;
    for (;;) {
      const stats = await this.stats();
      if (isWanted(stats)) return stats;
      if (performance.now() > limit) throw new Error(`not within ${LIMIT_MS} ms: ${JSON.stringify(stats)}`);
      await pause(LOOK_EVERY_MS); // each look takes time of the page that plays
    }
  }

  restart(): Promise<void> {
    return this.#page.evaluate('session.restart()');
  }

  /** The client ends the session with DELETE; resolves when the call is freed. */
  async stop(): Promise<void> {
    await this.#page.evaluate('session.stop()');
    const end = (await this.requests()).at(-1);
    assert.equal(end?.method, 'DELETE');
    // Clients close the connection first, so the session may have ended before the request comes.
    assert.ok(end.status === 204 || end.status === 404, `status ${end.status}`);
    await this.call.closed;
  }
}

const LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 200;
const PACKETS_A_SECOND = 50;
const AUDIBLE = 1e-3; // energy of speech is 0.01 a second and more

// A call of a page in a real Chromium through a thin link, and the page's figures of how it hears the voice.
//
//   server ──▶ relay: so many bit/s, a queue, 20 ms ──▶ Chromium
//          ◀──────────────── 20 ms ─────────────────
//
// The score is the E-model's (src/media/quality.ts) with the page's own figures: the share of the sound that
// the page made up counts as loss. The delay is the length of a packet, the way there, and the jitter
// buffer. The model knows nothing of the bit rate of Opus.
import type { Browser } from 'playwright-core';
import { mosOf, ratingOf } from '../../src/media/quality.js';
import { answerThrough, candidatePort, ImpairedRelay, type Impairment } from '../fakes/impaired-relay.js';
import { PageCall } from './page-call.js';

const PATH_MS = 20; // one way, without the queue
const SEED = 34;
const MOST_START_MS = 10_000;
const STORY_SECONDS = 6;
// All stories differ, as the answers of an agent do: none comes from the cache.
const story = (number: number) =>
  `Good morning, caller ${number}. Your order ${1000 + 37 * number} left our house in the evening. ` +
  `It is on its way to you, and box ${number} will be there by noon.`;

/** Counts of what the page heard in a time. */
export interface ThinHearing {
  /** Share of the packets that did not arrive, 0 to 1. */
  readonly lost: number;
  /** Share of the sound that the page made up, 0 to 1. */
  readonly concealed: number;
  /** Milliseconds of sound in a packet. */
  readonly packetMs: number;
  /** Mean milliseconds of the way to the page, with the queue. */
  readonly wayMs: number;
  /** Mean milliseconds in the jitter buffer. */
  readonly bufferMs: number;
  /** Mean opinion score, 1 to 4.5. */
  readonly mos: number;
}

export class ThinCall {
  readonly relay: ImpairedRelay;
  readonly #page: PageCall;

  private constructor(relay: ImpairedRelay, page: PageCall) {
    this.relay = relay;
    this.#page = page;
  }

  static async open(browser: Browser, url: string, link: Impairment): Promise<ThinCall> {
    let relay: ImpairedRelay | undefined;
    try {
      const page = await PageCall.open(browser, url, undefined, async (answer) => {
        if (!answer.startsWith('v=0')) return answer; // a refusal, which the page tells
        relay = await ImpairedRelay.open({
          serverPort: candidatePort(answer),
          seed: SEED,
          up: { delayMs: PATH_MS },
          down: { delayMs: PATH_MS, ...link },
        });
        return answerThrough(answer, relay.port);
      });
      if (relay === undefined) throw new Error('the page has not asked for an answer');
      return new ThinCall(relay, page);
    } catch (error) {
      await relay?.close();
      throw error;
    }
  }

  get id(): string {
    return this.#page.id;
  }

  /** The voice begins to speak for at least so long. */
  async speak(seconds: number): Promise<void> {
    const stories = Array.from({ length: Math.ceil(seconds / STORY_SECONDS) + 1 }, (_, at) => story(at));
    const text = stories.join(' ');
    await this.#page.send({ type: 'text', token: text, last: true });
    // The message may be long on its way if the link is full.
    await Promise.race([this.#page.message({ type: 'utterance.started' }), this.listen(MOST_START_MS)]);
  }

  listen(ms: number): Promise<void> {
    return this.#page.listen(ms);
  }

  /** Listens for so long. */
  async hear(ms: number): Promise<ThinHearing> {
    const before = await this.#figures();
    await this.listen(ms);
    const now = await this.#figures();
    const more = (name: keyof typeof now) => Number(now[name] ?? 0) - Number(before[name] ?? 0);
    const packets = more('packetsReceived') + more('packetsLost');
    const packetMs = (1000 * more('totalSamplesDuration')) / packets;
    const lost = more('packetsLost') / packets;
    const madeUp = more('concealedSamples') - more('silentConcealedSamples');
    const concealed = madeUp / more('totalSamplesReceived');
    const roundTripMs = (1000 * more('totalRoundTripTime')) / more('responsesReceived');
    const wayMs = roundTripMs - PATH_MS;
    const bufferMs = (1000 * more('jitterBufferDelay')) / (more('jitterBufferEmittedCount') || 1);
    const delay = { rttMs: 2 * (wayMs + bufferMs), frameMs: packetMs, jitterMs: 0 };
    const mos = mosOf(ratingOf({ codec: 'opus', ...delay, loss: concealed }));
    return { lost, concealed, packetMs, wayMs, bufferMs, mos };
  }

  async #figures() {
    const [heard, pair] = await Promise.all([this.#page.heard(), this.#page.pair()]);
    return { ...heard, ...pair };
  }

  async close(): Promise<void> {
    await this.#page.close();
    await this.relay.close();
  }
}

// A telephone call that an agent conducts, for tests: SIPp signals, a peer speaks and hears in RTP, a
// scripted model answers, and a scripted server recognises the caller. Everything of the server is real.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { CallEvent } from '../../../src/call/call-events.js';
import type { PhoneCallEvent } from '../../../src/call/phone-calls.js';
import type { Environment } from '../../../src/config/environment.js';
import { ChatEndpoint } from '../../agents/chat-endpoint.js';
import { TranscriptionServerUnderTest } from '../../engines/transcription-server.js';
import { until } from '../../fakes/until.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { type TelephoneFiles, TelephoneServer } from './telephone-server.js';

export const RATE = 8000;
const QUESTION = 'Excuse me, can I ask you something?';
export const STORY =
  'There was a miller whose only inheritance to his three sons was his mill, his ass, and his cat. ' +
  'The division was soon made, and they had neither clerk nor attorney.';
const HOLD_MS = 60_000;

/** The recogniser finds these texts in the next turns. */
export class Transcripts {
  next = '';
  readonly #server: TranscriptionServerUnderTest;
  #answered = 0;
  #isOver = false;

  constructor(server: TranscriptionServerUnderTest, t: TestContext) {
    this.#server = server;
    t.after(() => (this.#isOver = true));
    void this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      for (const probe of this.#server.probes.splice(0)) probe.end('{"data": []}');
      const asked = this.#server.asked[this.#answered];
      if (asked !== undefined) {
        this.#answered++;
        asked.say(this.next);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

interface AgentCallOptions {
  readonly environment?: Environment;
  readonly files?: TelephoneFiles;
  /** Of SIPp; `call-basic` if absent. */
  readonly scenario?: string;
  /** Called once the call is connected, before the first packet is awaited. */
  readonly onConnected?: (server: TelephoneServer, id: string) => Promise<void>;
}

export async function openAgentCall(t: TestContext, options: AgentCallOptions = {}) {
  const { environment = {}, files = {}, scenario = 'call-basic', onConnected } = options;
  const chat = await ChatEndpoint.open(t);
  const recogniser = await TranscriptionServerUnderTest.open(t);
  const transcripts = new Transcripts(recogniser, t);
  const isNative = environment['ASR_MODEL_DIR'] !== undefined;
  const server = await TelephoneServer.start(
    {
      AGENT_LLM_URL: chat.baseUrl,
      AGENT_LLM_MODEL: 'small',
      AGENT_GREETING: 'Good morning.',
      ...(isNative ? {} : { ASR_BASE_URL: recogniser.baseUrl, ASR_MODEL: 'whisper-1' }),
      ...environment,
    },
    files,
  );
  t.after(() => server.close());
  const rtp = await kept(t, RtpPeer.open());
  const sippOptions = { holdMs: HOLD_MS, limitS: 90, keys: { rtp_port: rtp.port } };
  const sipp = await kept(t, Sipp.call(server.address, scenario, sippOptions));
  const opened = () => server.telephone.list()[0];
  await until(() => opened()?.state === 'connected');
  const { id } = opened() ?? assert.fail('the call has ended');
  const events: CallEvent[] = [];
  const all: PhoneCallEvent[] = [];
  server.telephone.follow(id, 0, (event) => {
    all.push(event);
    if (event.type === 'speech') events.push(event.event);
  });
  await onConnected?.(server, id);
  await until(() => rtp.source !== undefined);
  const stream = rtp.stream(rtp.source ?? assert.fail());
  const count = (type: CallEvent['type']) => events.filter((event) => event.type === type).length;
  const silence = new Float32Array(RATE);
  const question = await server.rendered(QUESTION, { voice: 'rms' });
  return {
    id,
    chat,
    server,
    sipp,
    transcripts,
    rtp,
    events,
    all,
    count,
    /** Sends sound, and then a second of silence. */
    say: async (samples: Float32Array) => (await stream.play(samples), stream.play(silence)),
    question: question.samples,
  };
}

/** From 16 kHz to the rate of a telephone. */
export function half(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / 2) }, (_, n) => {
    return ((samples[2 * n] ?? 0) + (samples[2 * n + 1] ?? 0)) / 2;
  });
}

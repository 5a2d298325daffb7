// The clients of the bench webrtc, in a process of their own so that their processor time is not counted as
// the server's.
//
//   node clients.js light         clients that cost little and have no SCTP (test/fakes/light-peer.ts)
//   node clients.js datachannel   libdatachannel, with a data channel
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DtlsCertificate } from '../../../src/media/dtls-association.js';
import { systemTime } from '../../../src/time.js';
import { LightPeer } from '../../fakes/light-peer.js';
import { SENTENCES } from './bench-text.js';
import type {
  BenchPeer,
  SetUpPlan,
  SetUpResult,
  Standing,
  StandPlan,
  Step,
  ToClients,
  TurnoverPlan,
  TurnoverResult,
} from './client-messages.js';
import { DatachannelPeer } from './datachannel-peer.js';

const CALLS = '/v1/realtime/calls';
const SETUP_LIMIT_MS = 30_000;
const OVERLOADED = 'status 503';
const RETRY_MS = 1000; // the server's Retry-After

interface OpenCall {
  readonly peer: BenchPeer;
  readonly location: string;
  readonly offeredMs: number;
  readonly answeredMs: number;
}

const [kind = 'light'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxFreeSockets: 512 });
const certificate = DtlsCertificate.make();
const standing: OpenCall[] = [];
let failedStanding = 0;
let standingFailure: string | undefined;
let cpu = process.cpuUsage();

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

function ask(url: string, method: string, body?: string): Promise<{ text: string; location: string }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/sdp' };
    const asked = request(url, { method, agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(parts).toString();
        const { statusCode = 0 } = response;
        if (statusCode < 300) resolve({ text, location: response.headers.location ?? '' });
        else reject(new Error(`status ${statusCode}: ${text.slice(0, 200)}`));
      });
    });
    asked.once('error', reject).end(body);
  });
}

/** A call that has reached the step. Otherwise nothing is left of it. */
async function opened(url: string, step: Step): Promise<OpenCall> {
  const peer =
    kind === 'light'
      ? await LightPeer.open({ certificate })
      : await DatachannelPeer.open(SENTENCES.join(' '));
  let location = '';
  const limit = new AbortController();
  try {
    const offeredMs = systemTime.now();
    const answer = await ask(`${url}${CALLS}`, 'POST', peer.offer);
    ({ location } = answer);
    const answeredMs = systemTime.now();
    peer.accept(answer.text);
    const late = sleep(SETUP_LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
      throw new Error(`not ${step} within ${SETUP_LIMIT_MS} ms`);
    });
    late.catch(() => undefined);
    await Promise.race([peer[step], late]);
    return { peer, location, offeredMs, answeredMs };
  } catch (error) {
    await end(url, { peer, location });
    throw error;
  } finally {
    limit.abort();
  }
}

async function end(url: string, { peer, location }: Pick<OpenCall, 'peer' | 'location'>): Promise<void> {
  // The server may have noticed close_notify first, and then has no such call.
  if (location !== '') await ask(new URL(location, url).href, 'DELETE').catch(() => undefined);
  await peer.close();
}

async function setUp(plan: SetUpPlan): Promise<SetUpResult> {
  const { url, until, calls, perSecond, atOnce = 1, seconds = Infinity } = plan;
  const [startMs, cpuBefore] = [systemTime.now(), process.cpuUsage()];
  const [answerMs, readyMs, audibleMs]: [number[], number[], number[]] = [[], [], []];
  let failure: string | undefined;
  let failed = 0;
  let offers = 0;
  const one = async () => {
    try {
      const call = await opened(url, until);
      const { ready = NaN, audible } = call.peer.at;
      answerMs.push(call.answeredMs - call.offeredMs);
      readyMs.push(ready - call.offeredMs);
      if (audible !== undefined) audibleMs.push(audible - call.offeredMs);
      await end(url, call);
    } catch (error) {
      failed++;
      failure ??= (error as Error).message;
    }
  };
  if (perSecond === undefined) {
    const hasMore = () => offers < calls && systemTime.now() - startMs < seconds * 1000;
    const lane = async () => {
      while (hasMore()) {
        offers++;
        await one();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  } else {
    const running: Promise<void>[] = [];
    for (; offers < calls; offers++) {
      const waitMs = startMs + (1000 * offers) / perSecond - systemTime.now();
      if (waitMs > 0) await sleep(waitMs);
      running.push(one());
    }
    await Promise.all(running);
  }
  const spent = (systemTime.now() - startMs) / 1000;
  return { answerMs, readyMs, audibleMs, failed, failure, seconds: spent, cpuMs: cpuMs(cpuBefore) };
}

async function stand({ url, calls, atOnce }: StandPlan): Promise<Standing> {
  let offers = 0;
  [failedStanding, standingFailure] = [0, undefined];
  const lane = async () => {
    while (offers < calls) {
      offers++;
      try {
        standing.push(await opened(url, 'ready'));
      } catch (error) {
        failedStanding++;
        standingFailure ??= (error as Error).message;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return standingNow();
}

function standingNow(): Standing {
  const peers = standing.map(({ peer }) => peer).filter(({ at }) => at.ended === undefined);
  const used = cpuMs(cpu);
  cpu = process.cpuUsage();
  return {
    open: peers.length,
    failed: failedStanding + standing.length - peers.length,
    failure: standingFailure ?? (peers.length < standing.length ? 'the server ended a call' : undefined),
    packets: peers.reduce((sum, { packets }) => sum + packets, 0),
    missing: peers.reduce((sum, { missing }) => sum + missing, 0),
    longestGapMs: Math.max(0, ...peers.map(({ longestGapMs }) => longestGapMs)),
    cpuMs: used,
  };
}

async function turnOver({ url, calls, standing: most, atOnce }: TurnoverPlan): Promise<TurnoverResult> {
  const startMs = systemTime.now();
  const open: OpenCall[] = [];
  let [offers, ended, failed, refused, missing] = [0, 0, 0, 0, 0];
  let failure: string | undefined;
  const fail = (reason: string) => {
    failed++;
    failure ??= reason;
  };
  const endOldest = async () => {
    const call = open.shift();
    if (call === undefined) return;
    if (call.peer.at.ended !== undefined) fail('the server ended a call');
    // Every other client leaves without a request, as a page does that is closed.
    await (ended++ % 2 === 0 ? end(url, call) : call.peer.close());
    missing += call.peer.missing;
  };
  const openNext = async () => {
    try {
      open.push(await opened(url, 'audible'));
    } catch (error) {
      const { message } = error as Error;
      if (!message.startsWith(OVERLOADED)) return fail(message);
      refused++;
      offers--;
      await sleep(RETRY_MS);
    }
  };
  const lane = async () => {
    while (offers < calls) {
      offers++;
      await openNext();
      if (open.length > most) await endOldest();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  while (open.length > 0) await endOldest();
  const seconds = (systemTime.now() - startMs) / 1000;
  return { done: calls - failed, failed, failure, refused, missing, seconds };
}

async function drop(): Promise<object> {
  await Promise.all(standing.splice(0).map(({ peer }) => peer.close()));
  return {};
}

function answerTo(message: ToClients): Promise<object> {
  switch (message.type) {
    case 'set-up':
      return setUp(message);
    case 'stand':
      return stand(message);
    case 'turn-over':
      return turnOver(message);
    case 'standing':
      return Promise.resolve(standingNow());
    case 'drop':
      return drop();
  }
}

process.on('message', (message: ToClients) => {
  answerTo(message).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit(0));
process.send?.({});

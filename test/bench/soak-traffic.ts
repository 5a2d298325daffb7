// Client traffic of a soak test: every speech endpoint and dialect. Responses are read to the end, read in
// part and aborted, or aborted at once.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import http2 from 'node:http2';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

const FORMATS = ['mp3', 'opus', 'ogg', 'flac', 'wav', 'pcm', 'ulaw_8000', 'alaw_8000'];
const VOICES = ['slt', 'rms', 'alloy', 'nova'];
const WORDS = [
  'your',
  'order',
  'has',
  'shipped',
  'and',
  'arrives',
  'on',
  'Tuesday',
  'near',
  'the',
  'station',
];
const LIMIT_MS = 60_000; // per visit; the server's own limits are below it
const LONGEST_STAY_MS = 400; // for visitors that leave early

function oneOf<T>(list: readonly [T, ...T[]] | readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}

/** Half of them are asked again and again, so that the cache has work, too. */
function text(): string {
  if (Math.random() < 0.5) return `Sentence number ${Math.floor(Math.random() * 40)}. It is said often.`;
  const sentence = () => `${Array.from({ length: 8 }, () => oneOf(WORDS)).join(' ')}.`;
  return Array.from({ length: 1 + Math.floor(Math.random() * 6) }, sentence).join(' ');
}

/** Aborts after the visit's limit, or earlier for a visitor that leaves early. */
function patience(): AbortSignal {
  const leaves = Math.random() < 0.35;
  return AbortSignal.timeout(leaves ? Math.floor(Math.random() * LONGEST_STAY_MS) : LIMIT_MS);
}

function common(): Record<string, unknown> {
  const language = Math.random() < 0.1 ? { language: 'fr' } : { voice: oneOf(VOICES) };
  return { ...language, response_format: oneOf(FORMATS) };
}

type Visit = (url: string) => Promise<unknown>;

const connections = new Agent({ keepAlive: true });

async function ask(url: string, method: string, body: string, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const asking = request(url, { agent: connections, method, headers, signal });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.resume();
  await finished(answer);
  const { statusCode = 0 } = answer;
  if (statusCode >= 500 && statusCode !== 503) throw new Error(`${url}: ${statusCode}`);
}

async function post(url: string, body: object): Promise<void> {
  const signal = patience();
  try {
    await ask(url, 'POST', JSON.stringify(body), signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

async function overHttp2(url: string): Promise<void> {
  const session = http2.connect(url);
  session.on('error', () => undefined);
  const signal = patience();
  signal.addEventListener('abort', () => session.destroy());
  const streams = Array.from({ length: 3 }, async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/v1/audio/speech',
      'content-type': 'application/json',
    });
    stream.on('error', () => undefined);
    stream.end(JSON.stringify({ input: text(), ...common() }));
    stream.resume();
    await new Promise((resolve) => stream.on('close', resolve));
  });
  await Promise.all(streams);
  session.destroy();
}

/** Says all of it, and stays until a message is the last one. */
async function overSocket(url: string, messages: readonly object[], isLast: RegExp): Promise<void> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  const signal = patience();
  signal.addEventListener('abort', () => socket.terminate());
  socket.on('error', () => undefined);
  socket.on('open', () => {
    for (const message of messages) socket.send(JSON.stringify(message));
  });
  socket.on('message', (data, isBinary) => {
    if (!isBinary && isLast.test((data as Buffer).toString())) socket.close();
  });
  await new Promise((resolve) => socket.on('close', resolve)); // not `once` of events: it rejects where a socket ends before it is open
}

const VISITS: readonly Visit[] = [
  (url) => post(`${url}/v1/audio/speech`, { input: text(), ...common() }),
  (url) => post(`${url}/v1/audio/speech`, { input: text(), ...common(), stream: false }),
  (url) => post(`${url}/v1/audio/speech`, { input: text(), ...common(), stream_format: 'sse' }),
  (url) => post(`${url}/v1/audio/speech`, { input: text(), speed: 1.5, cache: false }),
  (url) => post(`${url}/v1/audio/speech`, { input: '', voice: 7 }),
  (url) => post(`${url}/v1/audio/speech/stream`, { input: text() }),
  (url) => post(`${url}/v1/audio/speech/pcm`, { input: text() }),
  (url) =>
    post(`${url}/v1/audio/speech/batch`, { items: [{ input: text() }, { input: text(), ...common() }] }),
  (url) => post(`${url}/v1/text-to-speech/slt`, { text: text() }),
  (url) => post(`${url}/v1/text-to-speech/slt/stream/with-timestamps`, { text: text() }),
  (url) =>
    Math.random() < 0.05 ? post(`${url}/cache/clear`, {}) : post(`${url}/v1/audio/speech`, { input: '...' }),
  overHttp2,
  (url) =>
    overSocket(`${url}/v1/audio/speech/ws`, [{ input: text() }, { input: text() }], /"(?:done|error)"/),
  (url) =>
    overSocket(
      `${url}/v1/audio/speech/stream`,
      [
        { type: 'session.config', response_format: oneOf(FORMATS), stream_audio: Math.random() < 0.5 },
        { type: 'input.text', text: text() },
        { type: 'input.done' },
      ],
      /"session\.done"/,
    ),
  (url) =>
    overSocket(
      `${url}/v1/text-to-speech/slt/stream-input?output_format=pcm_24000`,
      [{ text: ' ' }, { text: `${text()} ` }, { text: '' }],
      /"isFinal":true/,
    ),
  (url) =>
    overSocket(
      `${url}/v1/text-to-speech/slt/multi-stream-input?output_format=mp3_22050_32`,
      [
        { text: ' ', context_id: 'one' },
        { text: `${text()} `, context_id: 'one', flush: true },
        { text: `${text()} `, context_id: 'two' },
        { context_id: 'one', close_context: true },
        { close_socket: true },
      ],
      /never/,
    ),
];

export interface TrafficCount {
  visits: number;
  left: number;
  failed: number;
}

/** Visits one after the other until the signal is aborted; what goes wrong but for leaving is told. */
export async function visitor(
  url: string,
  signal: AbortSignal,
  count: TrafficCount,
  failed: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    count.visits++;
    try {
      await oneOf(VISITS)(url);
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') count.left++;
      else {
        count.failed++;
        failed(error);
      }
    }
    await sleep(Math.random() * 50);
  }
}

/** Ends the connections that are kept for further visits. */
export function closeConnections(): void {
  connections.destroy();
}

// The benches and soaks by name: their file, what they measure, and whether they load the addon.
import { join } from 'node:path';

interface Program {
  /** Path below dist/test/bench. */
  readonly file: string;
  readonly measures: string;
  /** True if the program loads the addon, which is then compiled first. */
  readonly addon: boolean;
}

export type Kind = 'bench' | 'soak';

const BENCHES: Readonly<Record<string, Program>> = {
  agent: { file: 'agent.bench.js', addon: true, measures: "the built-in agent's own share of a turn" },
  answering: {
    file: 'listen/answering.bench.js',
    addon: true,
    measures: 'who answers generated calls: people, voicemails, faxes, screening, and beeps',
  },
  'barge-in': {
    file: 'listen/barge-in.bench.js',
    addon: true,
    measures: "onset of a caller's speech to the last packet of the voice",
  },
  bridge: {
    file: 'bridge.bench.js',
    addon: true,
    measures: 'bridges of two calls: processor time of a leg, delay of a packet, beside rtpengine',
  },
  'cached-prompt': {
    file: 'cached-prompt.bench.js',
    addon: true,
    measures: 'cost of a repeated prompt in a call',
  },
  containers: { file: 'containers.bench.js', addon: false, measures: 'a second of speech in each format' },
  conversation: {
    file: 'conversation/conversation.bench.js',
    addon: true,
    measures: 'whole conversations, judged by their recordings: replies, stops, cut-offs, interruptions',
  },
  'conversation-load': {
    file: 'conversation/load.bench.js',
    addon: true,
    measures: 'conversations at once with a voice and a recogniser of the real size; takes their folders',
  },
  encode: { file: 'encode.bench.js', addon: false, measures: 'cost of one frame: encoding and resampling' },
  'first-packet': {
    file: 'first-packet.bench.js',
    addon: true,
    measures: 'text on the data channel to first packet',
  },
  heard: {
    file: 'heard.bench.js',
    addon: true,
    measures: 'words between the text reported as heard and the packets that were sent',
  },
  hearing: {
    file: 'listen/hearing.bench.js',
    addon: false,
    measures: 'echoes, speech over them and babble: pauses, interruptions, time to pause',
  },
  http: {
    file: 'http.bench.js',
    addon: true,
    measures: 'cache hits, first bytes, 64 streams, beside fastify and Node alone',
  },
  'http2-flood': {
    file: 'http2-flood.bench.js',
    addon: true,
    measures: 'wait of another client during floods of HTTP/2',
  },
  interrupt: { file: 'interrupt.bench.js', addon: true, measures: 'clear to last old packet' },
  ivr: {
    file: 'ivr.bench.js',
    addon: true,
    measures: 'calls in a menu of call programs: processor time, key to silence, key to the next prompt',
  },
  listen: {
    file: 'listen/listen.bench.js',
    addon: true,
    measures: 'cost of hearing 1 to 500 calls: decoding, voice activity',
  },
  moonshine: {
    file: 'moonshine.bench.js',
    addon: true,
    measures: 'cost of live callers of Moonshine, and pause to text; takes the folder of a model',
  },
  pacing: {
    file: 'pacing.bench.js',
    addon: true,
    measures: 'lateness of the clock at 50, 200 and 500 streams',
  },
  play: {
    file: 'play.bench.js',
    addon: true,
    measures: 'cost of the sound of `play`: processor time, latency, memory',
  },
  recognise: {
    file: 'recognise.bench.js',
    addon: true,
    measures: 'recognition over ten hours of a file and a long call: does it stay as it was?',
  },
  rooms: {
    file: 'rooms.bench.js',
    addon: true,
    measures: 'rooms of calls: processor time of a member, delay of the sound of a talker',
  },
  'rtp-receive': {
    file: 'rtp-receive.bench.js',
    addon: true,
    measures: 'cost of receiving a packet, plain and encrypted',
  },
  sip: {
    file: 'telephone/sip.bench.js',
    addon: true,
    measures: 'telephone calls by SIPp: set-up, overload, open calls, beside rtpengine and baresip',
  },
  'sip-transactions': {
    file: 'sip-transactions.bench.js',
    addon: false,
    measures: 'cost of the SIP of a call: set-up times, calls per second and core, overload',
  },
  'socket-calls': {
    file: 'socket-calls.bench.js',
    addon: true,
    measures: 'calls over WebSocket: gaps, event loop, processor time a call',
  },
  text: { file: 'text.bench.js', addon: false, measures: 'cost of reading a text' },
  'thin-links': {
    file: 'thin-links.bench.js',
    addon: true,
    measures: 'how a Chromium hears the voice through thin and lossy links',
  },
  transcribe: {
    file: 'transcribe.bench.js',
    addon: true,
    measures: 'cost of transcription beside the model: files and live sockets',
  },
  webrtc: {
    file: 'webrtc/webrtc.bench.js',
    addon: true,
    measures: 'browser calls: set-up, load, cost of open calls, beside libdatachannel',
  },
};

const SOAKS: Readonly<Record<string, Program>> = {
  http: {
    file: 'http-soak.js',
    addon: true,
    measures: 'ten minutes of mixed traffic: does the server stay as it was?',
  },
  sip: {
    file: 'telephone/sip-soak.js',
    addon: true,
    measures: '20,000 short telephone calls: does the server stay as it was?',
  },
};

export const PROGRAMS: Readonly<Record<Kind, Readonly<Record<string, Program>>>> = {
  bench: BENCHES,
  soak: SOAKS,
};

export const isKind = (word: string | undefined): word is Kind => word === 'bench' || word === 'soak';

/** One line for each program of a kind, as a command that works when copied. */
export function listOf(kind: Kind): string {
  const entries = Object.entries(PROGRAMS[kind]);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, { measures }]) => `  npm run ${kind} -- ${name.padEnd(width)}  ${measures}\n`)
    .join('');
}

export function programOf(kind: Kind, name: string): Program | undefined {
  return Object.hasOwn(PROGRAMS[kind], name) ? PROGRAMS[kind][name] : undefined;
}

/** The compiled file of a program. */
export const pathOf = ({ file }: Program): string => join(import.meta.dirname, file);

/** `process.argv` of a program: it reads its own arguments from the third on. */
export function argvOf(program: Program, node: string, args: readonly string[]): string[] {
  return [node, pathOf(program), ...args];
}

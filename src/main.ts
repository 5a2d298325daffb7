#!/usr/bin/env node
// Builds the parts of the server in order and closes them in reverse. It alone knows all of them.
//
//   log, metrics ─▶ plane ─▶ encoders ─▶ engines ─▶ switchboard ─▶ browser calls, telephone calls ─▶ HTTP
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { BrowserServer } from '../signaling/browser-server.js';
import { openBrowsers } from '../signaling/open-browsers.js';
import { openTelephone } from '../sip/telephone/open-telephone.js';
import { sipFigures, type Telephone } from '../sip/telephone/telephone.js';
import { CallCaptions } from './call/call-captions.js';
import { ApplicationCalls } from './call/listed-calls.js';
import { CallerTexts } from './call/caller-texts.js';
import { clientLimits } from './call/client-limits.js';
import { CachedSpeech } from './speaking/cached-speech.js';
import { Continuity } from './speaking/continuity.js';
import { FrameCache } from './speaking/frame-cache.js';
import { PreparedSpeech, warmUpTexts } from './speaking/prepared-speech.js';
import { spokenLanguage } from './speaking/sentence-reader.js';
import { SpeechService } from './speaking/speech-stream.js';
import { SpokenSentences } from './speaking/spoken-sentences.js';
import { openTexts, type ServedTexts } from './speaking/text-tables.js';
import { Switchboard } from './call/switchboard.js';
import { systemTime } from './time.js';
import { Closing, failStart, stopAtSignals, surviveDefects } from './shutdown.js';
import { readConfig, type Config } from './config/config.js';
import { returnMemoryWhenIdle } from './encoding/idle-memory.js';
import { Hearing } from './hearing/hearing.js';
import { Recordings } from './recording/recordings.js';
import { openAudioSocket } from './api/audiosocket/audio-socket-server.js';
import { type Conversations, openConversations } from './api/open-conversations.js';
import { pageFolder } from './api/pages/pages.js';
import { HttpServer } from './api/server.js';
import type { ServerHealth } from './api/status/status-routes.js';
import { CallReports } from './observe/call-reports.js';
import { descriptorNotices, DescriptorWatch } from './observe/descriptors.js';
import type { Log } from './log.js';
import { createLog } from './observe/log.js';
import { Metrics } from './observe/metrics.js';
import { type EncoderPool, openEncoders } from './encoding/encoder-pool.js';
import { MediaPlane } from './media/media-plane.js';
import { readCommandLine, TERMINAL, TerminalLog } from './cli.js';
import type { AudioCache } from './speaking/audio-cache.js';
import type { Engines } from './engines/routing.js';
import { openAudioCache } from './speaking/rendering-store.js';
import { openEngines, useConfiguredVoices } from './engines/engine-setup.js';
import { checkModelServers } from './engines/openai/server-check.js';
import { openTranscribing, type Transcribing } from './transcribing/open-transcribing.js';
import { VoiceWorkshop } from './voices/voice-workshop.js';

/** Replacements for tests. */
interface Overrides {
  readonly log?: Log;
  readonly engines?: Engines;
  readonly recognisers?: Transcribing['recognisers'];
  /** Environment of the secrets that configuration files name. */
  readonly env?: NodeJS.ProcessEnv;
  /** Called before the first listener opens. */
  readonly beforeListening?: (metrics: Metrics) => void;
}

export interface Server {
  readonly url: string;
  readonly switchboard: Switchboard;
  readonly plane: MediaPlane;
  readonly encoders: EncoderPool;
  readonly metrics: Metrics;
  /** Undefined if telephone calls are off. */
  readonly telephone: Telephone | undefined;
  /** What the engines lack, and how to get it. */
  readonly advice: Engines['advice'];
  /** Refuses new calls; resolves when the open ones have ended, or after `limitMs`. */
  drain(limitMs: number): Promise<void>;
  /** Refuses new work, ends calls and frees everything; every caller waits for the same end. */
  close(): Promise<void>;
}

/** Starts a server. If a part cannot be opened, it closes the others and rejects. */
export async function startServer(config: Config, overrides: Overrides = {}): Promise<Server> {
  const closing = new Closing();
  try {
    return await build(config, overrides, closing);
  } catch (error) {
    await closing.close().catch(() => undefined);
    throw error;
  }
}

async function build(config: Config, overrides: Overrides, closing: Closing): Promise<Server> {
  const log = overrides.log ?? createLog(config.log);
  const keyOf = (name: string) => http.keyOf(name); // during calls and requests: none come before
  const texts = await openTexts(config, { ownerOf: (call) => ownerOf(call), keyOf, log, closing });
  const descriptors = new DescriptorWatch({ time: systemTime, log });
  closing.add(() => descriptors.close());
  const plane = MediaPlane.open({ clock: 'real', seed: randomInt(2 ** 32) });
  closing.add(() => plane.close());
  const { cache, close } = openAudioCache(config.caches, systemTime, log);
  closing.add(close);
  const metrics = new Metrics({
    plane: () => plane.stats(),
    audioCache: () => cache.figures,
    frameCache: () => speakers.frames.figures, // no scrape happens before the parts below exist
    queueDepth: () => speakers.engines.waiting,
    queueDepthByClass: () => speakers.engines.waitingByClass(),
    modelLoaded: () => speakers.engines.figures.modelLoaded,
    engineWork: () => speakers.engines.work,
    encoders: () => speakers.encoders,
    hearing: () => hearing.figures(),
    transcription: () => speakers.transcribing.figures,
    recordings: () => recordings?.figures ?? { open: 0, started: 0, failed: 0 },
    sip: { ...sipFigures(() => telephone), webhooks: () => reports.figures },
    node: true,
  });
  const reports = new CallReports({ config, metrics: metrics.sip, time: systemTime, log });
  closing.add(() => reports.close());
  const speakers = await openSpeakers(config, overrides, log, closing);
  const { encoders, engines } = speakers;
  await Promise.all([encoders.ready(), config.engines.preloadModel ? engines.load() : undefined]);
  warmUpTexts(engines);
  const hearing = await Hearing.open({ ...config.hearing, plane, log, time: systemTime });
  closing.add(() => hearing.close());
  const ownerOf = (id: string) =>
    browsers.server.ownerOf(id) ?? telephone?.ownerOf(id) ?? conversations.soundCalls.ownerOf(id);
  const recordings = await openRecordings(config, log, closing);
  const shared = { config, texts, log, plane, metrics, cache, hearing, recordings, ownerOf, ...speakers };
  overrides.beforeListening?.(metrics);
  const switchboard = openSwitchboard(shared);
  closing.add(() => switchboard.close());
  const callerTexts = new CallerTexts({ ...speakers.transcribing.callers, time: systemTime });
  const sources = { switchboard, callerTexts, telephone: () => telephone, time: systemTime };
  const conversations = await openConversations({ ...shared, ...sources, keyOf, ownUrl: () => url, closing });
  const parts = { ...shared, switchboard, callerTexts, ...conversations };
  const browsers = openBrowsers({ ...parts, time: systemTime, randomBytes });
  closing.add(() => browsers.close());
  const telephone = await openPhone(parts, reports, overrides.env ?? process.env);
  closing.add(() => (conversations.joining.close(), telephone?.close()));
  const http = openHttp(parts, browsers.server, telephone);
  closing.add(() => http.close());
  closing.add(returnMemoryWhenIdle(parts.encoders, switchboard, systemTime));
  const url = await http.listen();
  await openAudioSocket({ ...parts, time: systemTime, closing });
  logStart(parts, url);
  closing.add(checkModelServers(config, { log, time: systemTime }));
  const drain = (limitMs: number) => (telephone?.drain(), switchboard.drain(limitMs, systemTime));
  const rest = { advice: engines.advice, drain, close: () => closing.close() };
  return { url, switchboard, plane, encoders, metrics, telephone, ...rest };
}

/** Opens encoders, engines and voices, without waiting until they are loaded. */
async function openSpeakers(config: Config, overrides: Overrides, log: Log, closing: Closing) {
  const encoders = openEncoders(config.encoders, log);
  closing.add(() => encoders.close());
  const frames = new FrameCache(config.caches.frameCacheBytes, encoders.settings);
  const engines = overrides.engines ?? (await openEngines(config, log));
  closing.add(() => engines.close());
  const transcribing = await openTranscribing(config, log, systemTime, overrides.recognisers);
  closing.add(() => transcribing.close());
  const workshop = await VoiceWorkshop.open(config.voices, engines, log);
  closing.add(() => workshop.close());
  for (const notice of useConfiguredVoices(engines, config)) log.warn({}, notice);
  const continuity = new Continuity(config.model.continuity);
  return { encoders, frames, engines, transcribing, workshop, continuity };
}

/** They close after the calls. */
async function openRecordings({ recording: config }: Config, log: Log, closing: Closing) {
  if (config === undefined) return undefined;
  const recordings = await Recordings.open({ config, time: systemTime, unixMs: Date.now, randomBytes, log });
  closing.add(() => recordings.close());
  return recordings;
}

function openSwitchboard(
  parts: Omit<Parts, 'switchboard' | 'callerTexts' | keyof Conversations>,
): Switchboard {
  const { config, texts: limits, log, metrics, encoders, frames, engines: routing, continuity } = parts;
  const hearing = { service: parts.hearing, settings: config.hearing.settings };
  const recordings = parts.recordings && { service: parts.recordings, ownerOf: parts.ownerOf };
  const { maxCalls } = config.limits;
  const newId = (protocol: string) => `${protocol === 'webrtc' ? 'rtc' : 'call'}_${randomUUID()}`;
  return new Switchboard(
    { routing, encoders, frames, continuity, hearing, recordings, limits, time: systemTime, log, metrics },
    { maxCalls, clientLimits: clientLimits(config.limits), newId },
  );
}

function logStart({ config, log, plane, engines }: Parts, url: string): void {
  for (const notice of [...config.notices, ...descriptorNotices(config)]) log.warn({}, notice);
  log.info({ url, clockPriority: plane.stats().priority, ...engines.advice }, 'parley listens');
}

/** Parts that browser calls, telephone calls and HTTP share. */
interface Parts extends Conversations {
  readonly config: Config;
  readonly texts: ServedTexts<Config['texts']>;
  readonly log: Log;
  readonly plane: MediaPlane;
  readonly hearing: Hearing;
  readonly recordings: Recordings | undefined;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
  readonly cache: AudioCache;
  readonly frames: FrameCache;
  readonly continuity: Continuity;
  readonly metrics: Metrics;
  readonly encoders: EncoderPool;
  readonly engines: Engines;
  readonly transcribing: Transcribing;
  readonly workshop: VoiceWorkshop;
  readonly switchboard: Switchboard;
  readonly callerTexts: CallerTexts;
}

function openPhone(parts: Parts, reports: CallReports, env: NodeJS.ProcessEnv) {
  const { encoders, engines: routing, frames, texts: limits, metrics } = parts;
  return openTelephone({
    ...parts,
    env,
    prepared: new PreparedSpeech({ routing, encoders, frames, limits, time: systemTime }),
    time: systemTime,
    recorded: (record) => reports.callEnded(record),
    onResponse: (...exchange) => metrics.sip.answered(...exchange),
  });
}

function openHttp(parts: Parts, calls: BrowserServer, telephone: Telephone | undefined): HttpServer {
  const { config, texts, log, cache, frames, continuity, metrics, encoders, engines, workshop } = parts;
  const service = new SpeechService(engines, encoders, texts, { continuity });
  const { settings } = encoders;
  const kept = { ...texts, cache, routing: engines, settings, continuity, frames };
  const speech = new CachedSpeech(service, { ...kept, samples: workshop.samples });
  const { modelId: id, strictModels: strict, maxNewTokens, requestTimeoutMs } = config.engines;
  const { elevenLabsVoices, maxUploadBytes } = config.voices;
  const [limits, { tables }] = [{ ...texts, maxNewTokens, maxUploadBytes }, texts];
  const { relays, joining, socketCalls, restCalls } = parts;
  const conversing = { relays, joining, socketCalls, restCalls };
  const { agents, namedRelays, webrtc } = config;
  const shared = { agents, namedRelays, webrtc, elevenLabsVoices, requestTimeoutMs, metrics, log, tables };
  return new HttpServer({
    ...config.access,
    ...shared,
    pageFolder: pageFolder(),
    speech,
    speaking: { speaker: new SpokenSentences({ ...kept, speech, limits: texts }), limits },
    voices: workshop.made,
    limits: { ...limits, spokenLanguage: (language, voice) => spokenLanguage(language, voice, engines) },
    models: { id, strict },
    weights: config.weights,
    exposesMetrics: config.operation.prometheusEnabled,
    calls,
    endCalls: () => Promise.allSettled([telephone?.close(), calls.close(), parts.switchboard.close()]),
    ...parts.transcribing.serve(parts.hearing),
    captions: new CallCaptions({ ...parts, calls: parts.switchboard, time: systemTime, unixMs: Date.now }),
    ...conversing,
    follow: { events: parts.events, incoming: parts.incoming },
    recordings: parts.recordings && { folder: parts.recordings.folder, recorder: parts.switchboard },
    foreignSocket: telephone?.sockets,
    phone: { calls: new ApplicationCalls({ ...parts, telephone }), sounds: workshop.sounds },
    telephone: () => telephone?.health ?? {},
    health: () => healthOf(parts),
  });
}

function healthOf(parts: Parts): ServerHealth {
  const { config, cache, encoders, engines, hearing, switchboard, workshop } = parts;
  return {
    ...engines.figures,
    ...parts.transcribing.health(),
    voiceActivity: hearing.health,
    modelId: config.engines.modelId,
    encoders: encoders.usable,
    draining: switchboard.draining,
    calls: switchboard.size,
    maxCalls: config.limits.maxCalls,
    queueDepth: engines.waiting,
    maxQueueDepth: config.engines.maxQueueDepth,
    audioCache: cache.figures,
    voiceCache: workshop.figures,
  };
}

async function main(): Promise<void> {
  const asked = await readCommandLine(process.argv.slice(2), process.env, TERMINAL);
  if ('status' in asked) return void (process.exitCode = asked.status);
  const config = readConfig(asked.env);
  const terminal = process.stdout.isTTY ? new TerminalLog((text) => TERMINAL.out(text)) : undefined;
  const log = createLog({ ...config.log, destination: terminal, isTerminal: terminal !== undefined });
  process.once('exit', () => terminal?.failed());
  const beforeListening = (metrics: Metrics) => surviveDefects(log, (work) => metrics.defect(work));
  const server = await startServer(config, { log, beforeListening });
  terminal?.ready(server);
  stopAtSignals(server, config.operation.drainTimeoutMs, log);
  await asked.opened?.(server.url);
}

const program = process.argv[1];
if (program !== undefined && import.meta.url === pathToFileURL(realpathSync(program)).href) {
  main().catch(failStart);
}

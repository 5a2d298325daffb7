// Opens the telephone from the configuration, with its guard, digest authentication, captures and prepared
// prompts, or logs why it stays closed.
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { CallRecord } from '../../src/call/phone-calls.js';
import type { CallHandler } from '../../src/call/call-handler.js';
import type { Switchboard } from '../../src/call/switchboard.js';
import type { CaptureConfig, CollectorConfig, SipConfig } from '../../src/config/telephone-config.js';
import { readAuthorities, readCertificate } from '../../src/config/certificate.js';
import { CODECS } from '../../src/codecs/codec.js';
import type { Config } from '../../src/config/config.js';
import { checkVoices, type ConfiguredVoice } from '../../src/engines/engine-setup.js';
import type { SpeechRouting } from '../../src/engines/routing.js';
import { asParleyError, ParleyError } from '../../src/errors.js';
import type { MediaPlane } from '../../src/media/media-plane.js';
import type { PreparedSpeech } from '../../src/speaking/prepared-speech.js';
import type { Time } from '../../src/time.js';
import { digestAlgorithm } from '../auth/digest.js';
import { DigestServer } from '../auth/digest-server.js';
import { Nonces } from '../auth/nonces.js';
import { CallCaptures, wantedCalls } from '../capture/call-captures.js';
import { CallTaps } from '../capture/call-taps.js';
import { HepSender } from '../capture/hep-sender.js';
import { FAILURE_BOUNDS, Guard, readingBounds, REQUEST_BOUNDS } from '../guard/guard.js';
import { OwnAddresses } from '../guard/address-list.js';
import type { RoutingContext } from '../routing-file.js';
import type { Route, SpokenText } from '../routing-table.js';
import type { Place } from '../transport/flow.js';
import type { CallPrograms } from '../../src/call/call-programs.js';
import { EXAMPLE_PROGRAM } from '../../src/config/ivr-config.js';
import type { Joining } from '../../src/call/joining.js';
import type { IncomingCalls } from '../../src/call/incoming-calls.js';
import type { TurnRecogniser } from '../../src/call/turn-texts.js';
import { RecentPeers } from './sip-admission.js';
import { Answering, type UsualPrograms } from './answering.js';
import { IncomingDecision } from './incoming-decision.js';
import { MediaSupply } from './media-supply.js';
import {
  certificateFiles,
  readTelephoneSettings,
  type SettingSources,
  type TelephoneSettings,
} from './telephone-settings.js';
import { Telephone, type TelephoneParts } from './telephone.js';
import type { Log } from '../../src/log.js';

interface TelephoneSurroundings {
  readonly config: SettingSources &
    Pick<Config, 'phoneMedia' | 'engines' | 'applications' | 'voices' | 'ivr'>;
  /** Environment with the passwords that trunks name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly plane: MediaPlane;
  readonly switchboard: Switchboard;
  /** Absent: no agent takes calls. */
  readonly handler?: CallHandler | undefined;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser;
  /** Absent: rules join no calls. */
  readonly joining?: Joining | undefined;
  /** Absent: there are no call programs. */
  readonly programs?: CallPrograms | undefined;
  /** Calls that wait for the decision of an application. */
  readonly incoming: IncomingCalls;
  /** Cache for prompts that are synthesised before calls come. */
  readonly prepared: PreparedSpeech;
  readonly engines: Pick<SpeechRouting, 'resolve'>;
  readonly time: Time;
  readonly log: Log;
  readonly recorded: (record: CallRecord) => void;
  readonly onResponse: TelephoneParts['onResponse'];
  readonly metrics: {
    /** Counts decisions of applications about incoming calls. */
    readonly applications: { decided(outcome: string): void };
  };
}

const MOST_PREPARED = 20; // prompts, each in every codec
const PACKET_MS = 20;
const NONCE_MS = 300_000;
const MOST_NONCES = 10_000;
const LOOPBACK = ['127.0.0.0/8', '::1'];
const BURST_SECONDS = 10;

/**
 * Returns undefined if the telephone is switched off (SIP_ENABLED=0), or another program uses the default
 * port. Rejects with CONFIG_INVALID for mistakes, and for a configured address that is not available.
 */
export async function openTelephone(around: TelephoneSurroundings): Promise<Telephone | undefined> {
  const { config, env, log } = around;
  const { sip } = config;
  if (!sip.enabled) return undefined;
  const settings = readTelephoneSettings(config, env, around.programs);
  checkVoices(around.engines, settings.routes.routes.flatMap(voicesOf));
  const certificate = certificateFiles(sip);
  if (certificate !== undefined) await readCertificate(certificate);
  if (sip.tlsCa !== undefined) await readAuthorities({ path: sip.tlsCa, variable: 'SIP_TLS_CA' });
  const captures = await openCaptures({
    config: config.captures,
    time: around.time,
    wallMs: Date.now,
    mediaMs: () => around.plane.nowMs,
  });
  const supply = new MediaSupply(around);
  const telephone = new Telephone({ ...partsOf(around, settings, supply), captures });
  supply.avoid(() => telephone.network.transports.places.map(({ place }) => place));
  try {
    await telephone.open();
    if (config.engines.preloadModel) void prepare(around, settings);
    return telephone;
  } catch (error) {
    await telephone.close();
    const { code, message: detail } = asParleyError(error, 'CONFIG_INVALID');
    if (sip.isStated)
      throw new ParleyError(code, `${detail}; SIP_HOST, SIP_PORT and SIP_TLS_PORT say where`, {
        cause: error,
      });
    log.warn({ detail }, 'no telephone calls: SIP_PORT chooses another port, SIP_ENABLED=0 none');
    return undefined;
  }
}

function partsOf(
  around: TelephoneSurroundings,
  settings: TelephoneSettings,
  supply: MediaSupply,
): TelephoneParts {
  const { config, switchboard, time, log, recorded, onResponse } = around;
  const { sip } = config;
  const { greeting: text, greetingVoice: voice, greetingLanguage: language } = sip;
  const greeting = { text, voice, language };
  const recentPeers = new RecentPeers(time);
  return {
    config: sip,
    tls: settings.tls,
    trunks: settings.trunks,
    srtp: config.phoneMedia.srtp,
    keying: config.phoneMedia.srtpKeying,
    guardOf: (allowedNow) => guardOf(sip, settings, time, allowedNow),
    digest: digestOf(sip, settings, time),
    recentPeers,
    answering: new Answering(settings.routes, greeting, sip.ringMs, around.handler, usualPrograms(around)),
    handler: around.handler,
    callerTexts: around.callerTexts,
    toneCountry: config.voices.toneCountry,
    joining: around.joining,
    programs: around.programs,
    decision: decisionOf(around, settings.context),
    switchboard,
    openMedia: (localAddress, request) => supply.open(localAddress, request),
    ports: () => supply.counts,
    departures: () => supply.departures,
    packets: () => supply.packets,
    ended: async () => {
      supply.close();
      await around.prepared.close();
    },
    silenceLimitMs: sip.silenceLimitMs,
    time,
    wallMs: () => Date.now(),
    recorded,
    onResponse,
    log,
  };
}

/** Undefined if there are no call programs. */
function usualPrograms({ config, programs }: TelephoneSurroundings): UsualPrograms | undefined {
  if (programs === undefined) return undefined;
  const { twimlUrl: url } = config.ivr;
  const document = url === undefined ? undefined : ({ kind: 'twiml', url, method: 'POST' } as const);
  return { document, example: EXAMPLE_PROGRAM };
}

/** Undefined if no application decides about incoming calls. */
function decisionOf(
  { config, time, log, incoming: followers, metrics }: TelephoneSurroundings,
  context: RoutingContext,
): IncomingDecision | undefined {
  const { incoming, webhookSecret: secret = '' } = config.applications;
  if (incoming === undefined) return undefined;
  const decided = (outcome: string) => metrics.applications.decided(outcome);
  const asking = { secret, followers, context, decided };
  return new IncomingDecision({ ...incoming, ...asking, time, wallMs: Date.now, log });
}

/** `ofTrunks`: addresses at which we are registered; calls may come from there. */
function guardOf(
  sip: SipConfig,
  { trunks }: TelephoneSettings,
  time: Time,
  ofTrunks: (address: string) => boolean,
): Guard {
  const isOpen = sip.allow.length + sip.challenge.length > 0;
  const perSecond = sip.requestsPerSecond;
  const own = new OwnAddresses(time);
  const allowedNow = isOpen ? ofTrunks : (address: string) => own.has(address) || ofTrunks(address);
  return new Guard({
    time,
    allowed: [...(isOpen ? sip.allow : LOOPBACK), ...trunks.flatMap(({ addresses }) => addresses)],
    allowedNow,
    challenged: sip.challenge,
    requests: { ...REQUEST_BOUNDS, perSecond, burst: perSecond * BURST_SECONDS },
    reading: readingBounds(perSecond),
    failures: FAILURE_BOUNDS,
  });
}

/** Undefined if no users are configured. */
function digestOf(
  { realm, digests }: SipConfig,
  { users }: TelephoneSettings,
  time: Time,
): DigestServer | undefined {
  if (users.size === 0) return undefined;
  const nonces = new Nonces({
    time,
    secret: randomBytes(32),
    randomBytes,
    lifetimeMs: NONCE_MS,
    mostCounted: MOST_NONCES,
  });
  const algorithms = digests.flatMap((name) => digestAlgorithm(name) ?? []);
  return new DigestServer({ realm, algorithms, qops: ['auth'], nonces, secretOf: (name) => users.get(name) });
}

/** Texts of a rule: a refusal's announcement, the text before the answer and the one after it. */
function promptsOf({ answer, ringing }: Route): SpokenText[] {
  if (answer.kind === 'reject') return answer.announcement === undefined ? [] : [answer.announcement];
  if (answer.kind !== 'say') return [];
  const { earlyText: text } = ringing ?? {};
  return text === undefined ? [answer] : [{ ...answer, text }, answer];
}

function voicesOf(route: Route, index: number): ConfiguredVoice[] {
  const fields = { voice: `SIP_ROUTES routes[${index}]`, language: `SIP_ROUTES routes[${index}]` };
  const [prompt] = promptsOf(route); // the others have the same voice
  return prompt === undefined ? [] : [{ voice: prompt.voice, language: prompt.language, fields }];
}

/**
 * Synthesises greeting and prompts in the configured codecs. Whatever fails here is synthesised when a call
 * needs it.
 */
async function prepare(
  { config, prepared, log }: TelephoneSurroundings,
  { routes }: TelephoneSettings,
): Promise<void> {
  const { greeting: text, greetingVoice, greetingLanguage } = config.sip;
  const greeting = { text, voice: greetingVoice, language: greetingLanguage };
  const prompts = routes.routes.flatMap(promptsOf);
  for (const { text, voice, language } of [greeting, ...prompts.slice(0, MOST_PREPARED)]) {
    for (const codec of config.phoneMedia.sipCodecs) {
      try {
        await prepared.prepare({ text, voice, language, codec: CODECS[codec], frameMs: PACKET_MS });
      } catch (error) {
        log.warn(
          { codec, code: asParleyError(error, 'ENGINE_FAILED').code },
          'a prompt could not be prepared',
        );
        return;
      }
    }
  }
}

interface CaptureSurroundings {
  readonly config: CaptureConfig;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  /** The media plane's clock. */
  readonly mediaMs: () => number;
}

/**
 * Undefined if no captures are configured. Rejects with CONFIG_INVALID if the collector's name cannot be
 * resolved.
 */
async function openCaptures(around: CaptureSurroundings): Promise<TelephoneParts['captures']> {
  const { config, time, wallMs, mediaMs } = around;
  const { files, keys } = config;
  if (config.collector === undefined && files === undefined) return undefined;
  const collector = config.collector === undefined ? undefined : await placeOf(config.collector);
  return (isTrusted) =>
    new CallTaps({
      keys,
      rtp: files?.rtp ?? false,
      collector: collector === undefined ? undefined : senderTo(collector, config.collector, wallMs),
      files:
        files &&
        new CallCaptures({
          folder: files.folder,
          time,
          unixMs: wallMs,
          mediaMs,
          wants: wantedCalls(files.calls, isTrusted),
          limits: { bytesPerFile: files.bytesPerFile, keepMs: files.keepMs, keepBytes: files.keepBytes },
        }),
    });
}

function senderTo(collector: Place, config: CollectorConfig | undefined, unixMs: () => number): HepSender {
  const { captureId = 0, key } = config ?? {};
  return new HepSender({ collector, agent: { captureId, authKey: key }, unixMs });
}

/** Resolved once: no message waits for DNS. */
async function placeOf({ host, port }: CollectorConfig): Promise<Place> {
  if (isIP(host) !== 0) return { address: host, port };
  try {
    const { address } = await lookup(host);
    return { address, port };
  } catch {
    throw new ParleyError('CONFIG_INVALID', `HEP_COLLECTOR: no address is known for the name "${host}"`);
  }
}

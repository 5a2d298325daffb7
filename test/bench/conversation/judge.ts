// Judges the recording of one call by the script of its caller, and by the questions to the model. It knows
// nothing else of the server: a packet has sound, or it has none.
//
//   reply                the caller's last sample above -40 dBFS to our first packet with sound
//   stop                 the interrupter's first such sample to our last old packet
//   stopped              we are silent within 1 s of that sample, and stay so
//   false cut-off        our voice begins in a pause within the caller's sentence
//   false interruption   our text is dropped, or our voice silent for more than 1 s, without words for us
//   selectivity          our voice answers words that were not meant for us
import { type Packet, PACKET_MS, type Recording } from './recording.js';

/** The acts of the caller, from its first packet to its last. Times are those of the monotonic clock. */
export type Cue =
  /** Words that we should answer. `pauses`: silences within them. */
  | ({ readonly kind: 'question'; readonly pauses: readonly Span[] } & Span)
  /** Words over our voice. No answer to them begins before `heldMs`. */
  | ({ readonly kind: 'interruption'; readonly heldMs: number } & Span)
  /** Sound over our voice that is no word for us. `isAsked`: our text was dropped, and the model asked. */
  | ({ readonly kind: 'noise'; readonly noise: string; readonly isAsked?: boolean } & Span)
  /** Words into our silence that are for somebody else. */
  | ({ readonly kind: 'aside'; readonly aside: string } & Span);

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Verdicts {
  /** Milliseconds. */
  readonly replies: readonly number[];
  /** Questions that our voice answered before their last word. */
  readonly early: number;
  /** Questions that were not answered within 5 s. */
  readonly unanswered: number;
  readonly stops: readonly number[];
  readonly interruptions: number;
  readonly pauses: readonly { readonly ms: number; readonly isCutOff: boolean }[];
  readonly noises: readonly {
    readonly noise: string;
    readonly ms: number;
    /** The longest silence of our voice. */
    readonly silentMs: number;
    readonly isFalse: boolean;
  }[];
  readonly asides: readonly { readonly aside: string; readonly isAnswered: boolean }[];
}

const LOUD = 0.01; // -40 dBFS
const SOUND = 0.003; // -50 dBFS: no codec's silence is so loud, and every voice is louder
const REPLY_LIMIT_MS = 5000;
const STOP_LIMIT_MS = 1000;
const INTERRUPTED_MS = 1000;
/** Our voice must speak so shortly before a sound of the caller that it can be interrupted. */
const SPEAKING_MS = 300;
/** After the end of a noise it may still have an effect. */
export const NOISE_EFFECT_MS = 3000;
const ASIDE_LIMIT_MS = 3000;

export function judge({ caller, ours }: Recording, cues: readonly Cue[]): Verdicts {
  const sounds = ours.filter(({ samples }) => peakOf(samples) > SOUND).map(({ atMs }) => atMs);
  sounds.sort((one, other) => one - other);
  const of = <K extends Cue['kind']>(kind: K) =>
    cues.filter((cue): cue is Extract<Cue, { readonly kind: K }> => cue.kind === kind);
  const replies = of('question').map((cue) => replyMs(caller, sounds, cue));
  const stops = of('interruption')
    .filter(({ fromMs }) => isSpeaking(sounds, fromMs))
    .map((cue) => stopMs(caller, sounds, cue));
  return {
    replies: replies.filter((ms) => ms !== undefined && ms > 0) as number[],
    early: replies.filter((ms) => ms !== undefined && ms <= 0).length,
    unanswered: replies.filter((ms) => ms === undefined).length,
    stops: stops.filter((ms) => ms !== undefined),
    interruptions: stops.length,
    pauses: of('question').flatMap((cue) => pausesOf(sounds, cue)),
    noises: of('noise').flatMap((cue) => noiseOf(sounds, cue) ?? []),
    asides: of('aside').map(({ aside, fromMs, toMs }) => {
      return { aside, isAnswered: sounds.some((atMs) => atMs > fromMs && atMs < toMs + ASIDE_LIMIT_MS) };
    }),
  };
}

/** Not positive: our voice began before the caller's end. */
function replyMs(caller: readonly Packet[], sounds: readonly number[], cue: Span): number | undefined {
  const lastMs = loudMs(caller, cue).at(-1);
  if (lastMs === undefined) throw new Error('the caller has said nothing');
  const first = sounds.find((atMs) => atMs > cue.fromMs);
  return first === undefined || first - lastMs > REPLY_LIMIT_MS ? undefined : first - lastMs;
}

/** Undefined: our voice went on. */
function stopMs(
  caller: readonly Packet[],
  sounds: readonly number[],
  cue: Extract<Cue, { readonly kind: 'interruption' }>,
): number | undefined {
  const firstMs = loudMs(caller, cue)[0];
  if (firstMs === undefined) throw new Error('the caller has said nothing');
  const last = sounds.findLast((atMs) => atMs < cue.heldMs) ?? -Infinity;
  if (last - firstMs > STOP_LIMIT_MS) return undefined;
  return Math.max(0, last - firstMs);
}

/** Our voice begins in a pause, or over what follows it. */
function pausesOf(sounds: readonly number[], cue: Extract<Cue, { readonly kind: 'question' }>) {
  return cue.pauses.map(({ fromMs, toMs }, n) => {
    const untilMs = cue.pauses[n + 1]?.fromMs ?? cue.toMs;
    const isCutOff = sounds.some((atMs) => atMs > fromMs && atMs < untilMs);
    return { ms: toMs - fromMs, isCutOff };
  });
}

/** Undefined: our voice did not speak. */
function noiseOf(
  sounds: readonly number[],
  { noise, fromMs, toMs, isAsked = false }: Extract<Cue, { readonly kind: 'noise' }>,
) {
  if (!isSpeaking(sounds, fromMs)) return undefined;
  const untilMs = toMs + NOISE_EFFECT_MS;
  const heard = sounds.filter((atMs) => atMs > fromMs - SPEAKING_MS && atMs < untilMs);
  let silentMs = 0;
  for (const [n, atMs] of heard.entries())
    silentMs = Math.max(silentMs, (heard[n + 1] ?? untilMs) - atMs - PACKET_MS);
  return { noise, ms: toMs - fromMs, silentMs, isFalse: isAsked || silentMs > INTERRUPTED_MS };
}

const isSpeaking = (sounds: readonly number[], atMs: number): boolean =>
  sounds.some((soundMs) => soundMs > atMs - SPEAKING_MS && soundMs <= atMs);

/** Times at which the loud samples of the caller's packets were said: the first and the last one. */
function loudMs(caller: readonly Packet[], { fromMs, toMs }: Span): readonly number[] {
  const times = caller
    .filter(({ atMs }) => atMs > fromMs - PACKET_MS && atMs <= toMs + 2 * PACKET_MS)
    .flatMap(({ atMs, samples, rate }) => {
      const beginMs = atMs - (1000 * samples.length) / rate;
      const isLoud = (sample: number) => Math.abs(sample) > LOUD;
      const [first, last] = [samples.findIndex(isLoud), samples.findLastIndex(isLoud)];
      return first < 0 ? [] : [beginMs + (1000 * first) / rate, beginMs + (1000 * (last + 1)) / rate];
    });
  return times.length === 0 ? [] : [Math.min(...times), Math.max(...times)];
}

function peakOf(samples: Float32Array): number {
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

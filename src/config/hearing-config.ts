// Reads the variables of hearing: the models that find speech and ends of turns, and the settings of turns
// and interruptions for calls that state none. The bounds apply to the settings of each call, too.
import { existsSync } from 'node:fs';
import type { ConfigReader, Environment } from './environment.js';
import { hubCache } from './model-config.js';
import { turnFile, turnInCache } from './onnx-cache.js';
import { TURN_MODELS, type TurnModel, turnModelNamed } from './onnx-catalog.js';
import type { Variable } from './variables.js';

const AUTO = 'auto';
const NONE = 'none';

export const SENSITIVITIES = ['high', 'medium', 'low'] as const;

/** Smallest and greatest value of each setting in milliseconds. */
export const HEARING_BOUNDS = {
  silenceMs: [100, 10_000],
  minSilenceMs: [100, 10_000],
  maxSilenceMs: [100, 30_000],
  minSpeechMs: [0, 5000],
  maxTurnMs: [0, 3_600_000],
  noInputMs: [0, 600_000],
  resumeMs: [100, 30_000],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

export type Sensitivity = (typeof SENSITIVITIES)[number];

/** Settings of one call: silence and length of turns, minimum speech, sensitivity. */
export interface HearingSettings {
  /** Silence that ends a turn. A hint or an end-of-turn model moves it between the two bounds below. */
  readonly silenceMs: number;
  readonly minSilenceMs: number;
  readonly maxSilenceMs: number;
  /** Shorter speech is a noise: it begins no turn and interrupts nothing. */
  readonly minSpeechMs: number;
  /** A longer turn is cut; 0 is no limit. */
  readonly maxTurnMs: number;
  /** Time without speech after `awaitInput` until `no_input`; 0 is no limit. */
  readonly noInputMs: number;
  readonly sensitivity: Sensitivity;
  /** Requires longer speech for an interruption, so that "mhm" and "yes" do not interrupt. */
  readonly ignoreBackchannel: boolean;
  /** A voice much weaker than the caller's does not interrupt: it is somebody else behind the caller. */
  readonly ignoreDistant: boolean;
  /** Longest pause of the voice while it is undecided whether a sound is speech. */
  readonly resumeMs: number;
  /** Turns end by order only: no silence and no length ends them, and speech interrupts nothing. */
  readonly endedByHand: boolean;
}

/** A model that follows the turns of callers. */
export interface TurnModelFile {
  readonly file: string;
  /** BCP 47 primary tags; undefined: all. */
  readonly languages: readonly string[] | undefined;
}

export interface HearingConfig {
  /** Model file; undefined: the one that comes with the server. */
  readonly vadModel: string | undefined;
  /** JavaScript module whose default export is an end-of-turn model. */
  readonly endOfTurnModule: string | undefined;
  /** Preferred ones first; empty where a module is stated. */
  readonly turnModels: readonly TurnModelFile[];
  readonly settings: HearingSettings;
}

export function readHearingConfig(read: ConfigReader<Variable>, env: Environment): HearingConfig {
  const ms = (name: Variable, setting: keyof typeof HEARING_BOUNDS, fallback: number) => {
    const [least, most] = HEARING_BOUNDS[setting];
    return read.integer(name, fallback, least, most);
  };
  const settings: HearingSettings = {
    silenceMs: ms('TURN_SILENCE_MS', 'silenceMs', 600),
    minSilenceMs: ms('TURN_MIN_SILENCE_MS', 'minSilenceMs', 300),
    maxSilenceMs: ms('TURN_MAX_SILENCE_MS', 'maxSilenceMs', 2000),
    minSpeechMs: ms('TURN_MIN_SPEECH_MS', 'minSpeechMs', 250),
    maxTurnMs: ms('TURN_MAX_MS', 'maxTurnMs', 60_000),
    noInputMs: 0,
    sensitivity: read.choice('VAD_SENSITIVITY', SENSITIVITIES, 'high'),
    ignoreBackchannel: read.flag('BARGE_IN_IGNORE_BACKCHANNEL', true),
    ignoreDistant: read.flag('BARGE_IN_IGNORE_DISTANT', true),
    resumeMs: ms('BARGE_IN_RESUME_MS', 'resumeMs', 2000),
    endedByHand: false,
  };
  const { silenceMs, minSilenceMs, maxSilenceMs } = settings;
  if (minSilenceMs > silenceMs) {
    read.problem('TURN_MIN_SILENCE_MS', `must be at most TURN_SILENCE_MS=${silenceMs}`);
  }
  if (maxSilenceMs < silenceMs) {
    read.problem('TURN_MAX_SILENCE_MS', `must be at least TURN_SILENCE_MS=${silenceMs}`);
  }
  const [vadModel, endOfTurnModule] = [read.raw('VAD_MODEL'), read.raw('END_OF_TURN_MODULE')];
  const turnModels = readTurnModels(read, env);
  return { vadModel, endOfTurnModule, turnModels: endOfTurnModule === undefined ? turnModels : [], settings };
}

/** TURN_MODEL: by default each model that was pulled whole. */
function readTurnModels(read: ConfigReader<Variable>, env: Environment): readonly TurnModelFile[] {
  const cache = hubCache(env);
  const inCache = (model: TurnModel) => ({ file: turnFile(cache, model), languages: model.languages });
  const isPulled = (model: TurnModel) => turnInCache(cache, model).state === 'complete';
  const stated = read.raw('TURN_MODEL') ?? AUTO;
  if (stated.toLowerCase() === NONE) return [];
  if (stated.toLowerCase() === AUTO) return TURN_MODELS.filter(isPulled).map(inCache);
  const named = turnModelNamed(stated);
  if (named === undefined) {
    if (existsSync(stated)) return [{ file: stated, languages: undefined }];
    const names = [AUTO, NONE, ...TURN_MODELS.map(({ name }) => name)].join(', ');
    read.problem('TURN_MODEL', `must be ${names} or an ONNX file: there is no file ${stated}`);
    return [];
  }
  if (isPulled(named)) return [inCache(named)];
  const command = `npm run parley -- pull ${named.name}`;
  read.problem('TURN_MODEL', `names ${named.name}, which is not in ${cache}; fetch it with: ${command}`);
  return [];
}

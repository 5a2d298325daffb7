// Settings of one call's ears: silence and length of turns, minimum speech, sensitivity.
import { HEARING_BOUNDS, SENSITIVITIES } from '../config/hearing-config.js';
import { ParleyError } from '../errors.js';

export type Sensitivity = (typeof SENSITIVITIES)[number];

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
  /** Longest pause of the voice while it is undecided whether a sound is speech. */
  readonly resumeMs: number;
}

type TimeSetting = Exclude<keyof HearingSettings, 'sensitivity' | 'ignoreBackchannel'>;

/**
 * `base` with the changes. Throws INVALID_FIELD with the field and the allowed values. If only `silenceMs`
 * is changed, its bounds move with it.
 */
export function changedSettings(base: HearingSettings, change: Partial<HearingSettings>): HearingSettings {
  const settings = withMovedBounds({ ...base, ...change }, change);
  for (const field of Object.keys(HEARING_BOUNDS) as TimeSetting[]) checkTime(field, settings[field]);
  if (!SENSITIVITIES.includes(settings.sensitivity)) {
    throw refused('sensitivity', `high, medium or low, not ${String(settings.sensitivity)}`);
  }
  if (typeof settings.ignoreBackchannel !== 'boolean') {
    throw refused('ignoreBackchannel', `true or false, not ${String(settings.ignoreBackchannel)}`);
  }
  if (settings.minSilenceMs > settings.silenceMs) {
    throw refused('minSilenceMs', `at most silenceMs (${settings.silenceMs}), not ${settings.minSilenceMs}`);
  }
  if (settings.maxSilenceMs < settings.silenceMs) {
    throw refused('maxSilenceMs', `at least silenceMs (${settings.silenceMs}), not ${settings.maxSilenceMs}`);
  }
  return settings;
}

function withMovedBounds(settings: HearingSettings, change: Partial<HearingSettings>): HearingSettings {
  const { silenceMs } = settings;
  if (change.silenceMs === undefined || !Number.isFinite(silenceMs)) return settings;
  return {
    ...settings,
    minSilenceMs: change.minSilenceMs ?? Math.min(settings.minSilenceMs, silenceMs),
    maxSilenceMs: change.maxSilenceMs ?? Math.max(settings.maxSilenceMs, silenceMs),
  };
}

function checkTime(field: TimeSetting, value: unknown): void {
  const [least, most] = HEARING_BOUNDS[field];
  if (typeof value === 'number' && value >= least && value <= most) return;
  throw refused(field, `${least} to ${most} ms, not ${String(value)}`);
}

function refused(field: keyof HearingSettings, allowed: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `${field} must be ${allowed}`, { field });
}

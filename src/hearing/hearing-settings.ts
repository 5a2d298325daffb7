// Checks and changes the settings of one call's ears.
import { HEARING_BOUNDS, type HearingSettings, SENSITIVITIES } from '../config/hearing-config.js';
import { ParleyError } from '../errors.js';

type TimeSetting = keyof typeof HEARING_BOUNDS;
const FLAGS = ['ignoreBackchannel', 'ignoreDistant', 'endedByHand'] as const;

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
  for (const field of FLAGS) {
    const value: unknown = settings[field];
    if (typeof value !== 'boolean') throw refused(field, `true or false, not ${String(value)}`);
  }
  if (settings.minSilenceMs > settings.silenceMs) {
    throw refused('minSilenceMs', `at most silenceMs (${settings.silenceMs}), not ${settings.minSilenceMs}`);
  }
  if (settings.maxSilenceMs < settings.silenceMs) {
    throw refused('maxSilenceMs', `at least silenceMs (${settings.silenceMs}), not ${settings.maxSilenceMs}`);
  }
  return settings;
}

/** The settings of turns that end after this silence, whatever was said. */
export function fixedSilence(
  silenceMs: number,
): Pick<HearingSettings, 'silenceMs' | 'minSilenceMs' | 'maxSilenceMs'> {
  return { silenceMs, minSilenceMs: silenceMs, maxSilenceMs: silenceMs };
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

// Plays scripted calls through the listening loop with the real model, and collects what it tells.
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import type { HearingEvent } from '../../src/hearing/hearing-messages.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { ListeningLoop, type LoopWork } from '../../src/hearing/listening-loop.js';
import { SileroModel } from '../../src/hearing/silero.js';
import type { VoiceMemory, VoiceModel } from '../../src/hearing/voice-model.js';
import { until } from '../fakes/until.js';
import { type ScriptedCall, ScriptedEars } from './scripted-ears.js';

const TRACK = 7;
/** Windows that are analysed within the limit of `until` on a busy machine, too. */
const CHUNK = 100;

interface Heard {
  readonly events: readonly HearingEvent[];
  readonly work: LoopWork;
}

/**
 * All of a call's sound. While there is sound of ours, the track 7 plays and may be interrupted. A pause of
 * it changes nothing in the script.
 */
export async function heard(
  call: ScriptedCall,
  settings: Partial<HearingSettings> = {},
  model?: VoiceModel<VoiceMemory>,
): Promise<Heard> {
  const ears = new ScriptedEars(new Map([[1, call]]));
  const events: HearingEvent[] = [];
  const work = { workedUs: 0, windows: 0, gated: 0, runs: 0 };
  const used = model ?? ((await SileroModel.load()) as VoiceModel<VoiceMemory>);
  const loop = new ListeningLoop({
    ears,
    model: used,
    fade: (_playout, track) => track === TRACK,
    onEvent: (_line, event) => events.push(event),
    onAnalysed: () => undefined,
    onForgotten: () => undefined,
    onFailed: (_line, error) => {
      throw error;
    },
    onWork: (more) => {
      for (const name of ['workedUs', 'windows', 'gated', 'runs'] as const) work[name] += more[name];
    },
    now: () => performance.now(),
  });
  const media = { socket: 1, playout: 1 };
  loop.handle({ type: 'listen', stream: 1, media, settings: { ...HEARING_SETTINGS, ...settings } });
  const by = 'speech';
  if (call.ours) loop.handle({ type: 'interruptible', stream: 1, tracks: [{ track: TRACK, by }] });
  loop.start();
  const windows = Math.ceil(call.caller.length / WINDOW_SAMPLES);
  for (let released = 0; released < windows; released += CHUNK) {
    ears.release(Math.min(CHUNK, windows - released));
    await until(() => work.windows >= Math.min(windows, released + CHUNK));
  }
  await loop.close();
  if (model === undefined) await used.close();
  return { events, work };
}

// Settings of hearing for tests: an interruption needs no more speech than a turn.
import type { HearingSettings } from '../../src/config/hearing-config.js';

export const HEARING_SETTINGS: HearingSettings = {
  silenceMs: 600,
  minSilenceMs: 300,
  maxSilenceMs: 2000,
  minSpeechMs: 250,
  maxTurnMs: 60_000,
  noInputMs: 0,
  sensitivity: 'high',
  ignoreBackchannel: false,
  ignoreDistant: true,
  resumeMs: 2000,
  endedByHand: false,
};

// The encoders as the configuration wants them.
import type { Config } from '../config/config.js';
import type { Log } from '../observe/log.js';
import { EncoderPool } from './encoder-pool.js';
import { loadOpus } from '../codecs/opus.js';

/** Throws ADDON_MISSING where the Opus encoder does not load. */
export function openEncoders(config: Config, log: Log): EncoderPool {
  loadOpus(); // a worker could only say that it died
  return new EncoderPool({
    workers: config.encoderWorkers,
    trim: { thresholdDb: config.silenceThresholdDb },
    opus: {
      application: config.opusApplication,
      complexity: config.opusComplexity,
      bitsPerSecond: config.opusBitrate,
    },
    onWorkerLost: (error) =>
      log.error({ code: error.code, detail: error.message }, 'encoder worker replaced'),
  });
}

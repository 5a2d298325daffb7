// Captures as the configuration wishes them.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { CaptureConfig, CollectorConfig } from '../../src/config/telephone-config.js';
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import { CallCaptures } from '../capture/call-captures.js';
import { CallTaps } from '../capture/call-taps.js';
import { HepSender } from '../capture/hep-sender.js';
import { wantedCalls } from '../capture/wanted-calls.js';
import type { Place } from '../transport/flow.js';

export interface CaptureSurroundings {
  readonly config: CaptureConfig;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  /** The media plane's clock. */
  readonly mediaMs: () => number;
}

/** Made with whether callers from an address may ask for a capture. */
export type CaptureOpener = (isTrusted: (address: string) => boolean) => CallTaps;

/** Undefined where none are wished. Rejects with CONFIG_INVALID where the collector's name leads nowhere. */
export async function openCaptures(around: CaptureSurroundings): Promise<CaptureOpener | undefined> {
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

/** Looked up once: a message waits for no name. */
async function placeOf({ host, port }: CollectorConfig): Promise<Place> {
  if (isIP(host) !== 0) return { address: host, port };
  try {
    const { address } = await lookup(host);
    return { address, port };
  } catch {
    throw new ParleyError('CONFIG_INVALID', `HEP_COLLECTOR: no address is known for the name "${host}"`);
  }
}

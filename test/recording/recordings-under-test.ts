// Recordings with their worker thread, in a folder that is gone with the test.
import type { TestContext } from 'node:test';
import type { RecordingConfig } from '../../src/config/recording-config.js';
import { Recordings } from '../../src/recording/recordings.js';
import { systemTime, type Time } from '../../src/time.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { SILENT_LOG } from '../../src/log.js';

interface Options {
  readonly config?: Partial<RecordingConfig>;
  readonly time?: Time;
  readonly script?: URL;
}

export async function openRecordings(t: TestContext, { config, time = systemTime, script }: Options = {}) {
  const folder = config?.folder ?? temporaryFolder(t);
  const logged: (readonly [message: string, fields: Record<string, unknown>])[] = [];
  const note = (fields: unknown, message?: string) =>
    void logged.push([message ?? '', fields as Record<string, unknown>]);
  let serial = 0;
  const recordings = await Recordings.open({
    config: { folder, format: 'wav', maxMs: 3_600_000, keepBytes: 0, keepMs: 0, ...config },
    time,
    unixMs: Date.now,
    randomBytes: (count) => new Uint8Array(count).map(() => ++serial),
    log: { ...SILENT_LOG, warn: note, error: note },
    ...(script === undefined ? {} : { script }),
  });
  t.after(() => recordings.close());
  return { recordings, folder, logged };
}

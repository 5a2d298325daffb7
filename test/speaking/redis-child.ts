// Writes a rendering to the Redis at the given address, reads it back, and ends.
import { systemTime } from '../../src/time.js';
import { openRedisTier } from '../../src/speaking/rendering-store.js';
import { NO_TIME } from '../../src/speaking/sound.js';
import { until } from '../fakes/until.js';
import { SILENT_LOG } from '../../src/log.js';

const [, , url = ''] = process.argv;
let hasLogged = false;
const say = (_fields: unknown, message: string) => {
  hasLogged = true;
  console.log(message);
};
const log = { ...SILENT_LOG, info: say, warn: say };
const tier = openRedisTier({ url, ttlSeconds: 60, time: systemTime, log });
await until(() => hasLogged);
const outcome = { durationMs: 0, sentences: [], timing: NO_TIME };
let text = '';
// A look that a busy machine makes too late is a miss, with nowhere to leave what was made.
await until(async () => {
  const { sound, leave } = await tier.look('a');
  text = Buffer.from(sound?.bytes ?? []).toString();
  if (sound === undefined) leave?.({ contentType: 'audio/wav', bytes: Buffer.from('hello'), outcome });
  return text !== '';
});
console.log(`found: ${text}`);
await tier.close();

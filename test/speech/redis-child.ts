// Writes a rendering to the Redis whose address it is given, reads it back, and ends.
import { systemTime } from '../../src/time.js';
import { openRedisTier } from '../../src/speech/redis-tier.js';
import { NO_TIME } from '../../src/speech/sound.js';
import { until } from '../fakes/until.js';

const [, , url = ''] = process.argv;
let told = false;
const say = (_fields: unknown, message: string) => {
  told = true;
  console.log(message);
};
const log = { info: say, warn: say } as unknown as Parameters<typeof openRedisTier>[0]['log'];
const tier = openRedisTier({ url, ttlSeconds: 60, time: systemTime, log });
await until(() => told);
const { leave } = await tier.look('a');
const outcome = { durationMs: 0, sentences: [], timing: NO_TIME };
leave?.({ contentType: 'audio/wav', bytes: Buffer.from('hello'), outcome });
let text = '';
await until(async () => {
  const { sound } = await tier.look('a');
  text = Buffer.from(sound?.bytes ?? []).toString();
  return text !== '';
});
console.log(`found: ${text}`);
await tier.close();

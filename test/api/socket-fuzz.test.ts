// Damaged messages, the same in every run: each is answered or understood, and
// the socket speaks on afterwards.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { legacySocket } from '../../src/api/legacy/legacy-socket.js';
import { omniSocket } from '../../src/api/omni/omni-socket.js';
import { until } from '../fakes/until.js';
import { mutated, randomFrom } from './mutations.js';
import { type DialectUnderTest, openDialect } from './dialect-under-test.js';

const LEGACY = [
  '{"input":"One is here. Two is there.","voice":"instant","speed":1.5,"language":"en"}',
  '{"text":"Hello.","sample_rate":8000,"instructions":"calm","seed":7,"top_p":0.5,"cache":false}',
  '{"event":"cancel"}',
  '{"type":"cancel"}',
  '{"input":"\\ud83d\\ude00 \\u0000 and so on.","voice":{"id":"instant"},"max_new_tokens":100}',
];
const OMNI = [
  '{"type":"session.config","voice":"instant","language":"English","response_format":"pcm","stream_audio":true}',
  '{"type":"session.config","response_format":"wav","sample_rate":16000,"speed":2,"task_type":"CustomVoice"}',
  '{"type":"input.text","text":"One is here. And "}',
  '{"type":"input.text","text":"so on. "}',
  '{"type":"session.config","response_format":"pcm","stream_audio":true,"word_timestamps":true}',
  '{"type":"session.config","streaming_mode":"sentence_commit"}',
  '{"type":"input.commit","commit_id":"a"}',
  '{"type":"input.done"}',
  '{"type":"input.cancel"}',
];
const ROUNDS = 6000;

/** Sends damaged copies of the messages, some as bytes; returns the kinds of what was answered. */
async function hear(under: DialectUnderTest, samples: readonly string[], seed: number): Promise<Set<string>> {
  const random = randomFrom(seed);
  const kinds = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const sample = samples[Math.floor(random() * samples.length)] ?? '';
    const message = random() < 0.4 ? sample : mutated(sample, random);
    under.conversation.message(random() < 0.02 ? Buffer.from(message) : message);
    if (round % 5 === 0) await nextTurn();
    for (const received of under.peer.taken()) {
      if (typeof received !== 'string') kinds.add(String(received['code'] ?? received['event'] ?? received['type']));
    }
  }
  return kinds;
}

test('6,000 damaged messages of the legacy dialect are each understood or refused by code', async () => {
  const under = openDialect(legacySocket);
  const kinds = await hear(under, LEGACY, 11);
  const known = ['cancelled', 'done', 'invalid_value', 'malformed', 'queue_full'];
  assert.deepEqual([...kinds].toSorted(), [...known, 'text_too_long', 'voice_unknown']);
  assert.deepEqual(under.failures, []);
  under.say({ event: 'cancel' });
  await until(() => under.peer.messages.length > 0);
  under.peer.taken();
  under.say({ input: 'Still here.' });
  assert.deepEqual(await under.received(3), ['Still ', 'here.', { event: 'done' }]);
  await under.conversation.closed();
  assert.deepEqual([under.speech.active, under.time.waiting], [0, 0]);
});

test('6,000 damaged messages of vLLM-Omni’s dialect are each understood or refused by code', async () => {
  const under = openDialect(omniSocket);
  const kinds = await hear(under, OMNI, 12);
  const known = ['audio.done', 'audio.start', 'input.cancelled', 'invalid_value', 'malformed'];
  assert.deepEqual([...kinds].toSorted(), [...known, 'session.done', 'text_too_long', 'voice_unknown']);
  assert.deepEqual(under.failures, []);
  under.say({ type: 'input.cancel' });
  await until(() =>
    under.peer.messages.some((received) => typeof received !== 'string' && received['type'] === 'input.cancelled'),
  );
  under.peer.taken();
  const config = { type: 'session.config', response_format: 'pcm', stream_audio: true };
  under.say(config, { type: 'input.text', text: 'Still here.' }, { type: 'input.done' });
  const [, ...rest] = await under.received(5);
  assert.deepEqual(rest.slice(0, 2), ['Still ', 'here.']);
  await under.conversation.closed();
  await until(() => under.time.waiting === 0);
  assert.equal(under.speech.active, 0);
});

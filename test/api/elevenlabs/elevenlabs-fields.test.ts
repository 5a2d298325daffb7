import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readClientMessage, readSocketSettings } from '../../../src/api/elevenlabs/elevenlabs-request.js';
import { mutated, randomFrom } from '../mutations.js';
import { openMulti, openStreamInput, settled } from './eleven-under-test.js';

const settings = (query: string) => readSocketSettings(new URLSearchParams(query));

for (const [name, container, sampleRate, bytesPerMs] of [
  ['pcm_8000', 'pcm', 8000, 16],
  ['pcm_16000', 'pcm', 16_000, 32],
  ['pcm_22050', 'pcm', 22_050, 44.1],
  ['pcm_24000', 'pcm', 24_000, 48],
  ['pcm_32000', 'pcm', 32_000, 64],
  ['pcm_44100', 'pcm', 44_100, 88.2],
  ['pcm_48000', 'pcm', 48_000, 96],
  ['mp3_22050_32', 'mp3', 22_050, 8],
  ['mp3_44100_32', 'mp3', 44_100, 12],
  ['mp3_44100_192', 'mp3', 44_100, 12],
  ['ulaw_8000', 'ulaw', 8000, 8],
  ['alaw_8000', 'alaw', 8000, 8],
  ['opus_48000_32', 'ogg', 48_000, undefined],
  ['opus_48000_192', 'ogg', 48_000, undefined],
] as const) {
  test(`output_format ${name} is understood`, () => {
    const { format: kind, ...format } = settings(`output_format=${name}`).format;
    const sampleBytes = container === 'pcm' ? 2 : 1;
    assert.deepEqual(
      { container: kind.container, ...format },
      { container, sampleRate, bytesPerMs, sampleBytes },
    );
  });
}

test('what the address leaves out has ElevenLabs’ defaults, and what it does not know is ignored', () => {
  for (const query of [
    '',
    'model_id=eleven_flash_v2_5&optimize_streaming_latency=3&enable_logging=false&x=y',
  ]) {
    const { format, ...rest } = settings(query);
    assert.deepEqual([format.format.container, format.sampleRate], ['mp3', 44_100]);
    assert.deepEqual(rest, { autoMode: false, markup: false, inactivityMs: 20_000 });
  }
});

test('LiveKit’s and Pipecat’s addresses are understood', () => {
  const livekit =
    'model_id=eleven_turbo_v2_5&output_format=mp3_22050_32&enable_ssml_parsing=false&enable_logging=true' +
    '&inactivity_timeout=180&apply_text_normalization=auto&sync_alignment=true&auto_mode=true&language_code=en';
  assert.deepEqual(
    { ...settings(livekit), format: undefined },
    { format: undefined, language: 'en', autoMode: true, markup: false, inactivityMs: 180_000 },
  );
  assert.equal(settings('model_id=eleven_flash_v2_5&output_format=pcm_24000&auto_mode=true').autoMode, true);
});

for (const [query, field, allowed] of [
  ['output_format=wav', 'output_format', /pcm_<rate>/],
  ['output_format=wav_16000', 'output_format', /cannot be WAV/],
  ['output_format=pcm_7999', 'output_format', /8000 to 48000/],
  ['output_format=mp3_44100', 'output_format', /mp3_<rate>_<kbps>/],
  ['output_format=mp3_44101_128', 'output_format', /44100/],
  ['output_format=opus_24000_32', 'output_format', /48000/],
  ['output_format=ulaw_16000', 'output_format', /8000/],
  ['output_format=constructor_8000', 'output_format', /pcm_<rate>/],
  ['auto_mode=maybe', 'auto_mode', /true or false/],
  ['sync_alignment=2', 'sync_alignment', /true or false/],
  ['enable_ssml_parsing=x', 'enable_ssml_parsing', /true or false/],
  ['inactivity_timeout=181', 'inactivity_timeout', /from 1 to 180/],
  ['inactivity_timeout=0', 'inactivity_timeout', /from 1 to 180/],
  ['inactivity_timeout=1.5', 'inactivity_timeout', /from 1 to 180/],
  ['seed=-1', 'seed', /from 0 to 4294967295/],
  ['apply_text_normalization=yes', 'apply_text_normalization', /"auto", "on", "off"/],
  ['language_code=%F0%9F%98%80', 'language_code', /such as "en"/],
] as const) {
  test(`an address with ${query} is refused by name, and the socket closes`, async () => {
    for (const open of [openStreamInput, openMulti]) {
      const { peer, tell, time, conversation } = open({ query });
      tell({ text: 'One. ', flush: true });
      assert.equal(peer.messages.length, 1);
      const { message = '', error, code } = peer.messages[0] ?? {};
      assert.match(message, allowed);
      assert.ok(message.includes(`"${field}"`));
      assert.deepEqual([error, code, peer.closedWith?.[0]], ['invalid_request', 1008, 1008]);
      await conversation.closed();
      assert.equal(time.waiting, 0);
    }
  });
}

test('a message is read whole; null is as good as absent, and what is not known is ignored', () => {
  const nothing = { flush: false, trigger: false, closeContext: false, closeSocket: false };
  assert.deepEqual(readClientMessage('{"text":null,"flush":null,"voice_settings":null,"model":1}'), nothing);
  const message = {
    text: 'Hi ',
    context_id: 'a',
    flush: true,
    try_trigger_generation: true,
    voice_settings: { speed: 0.7, stability: 0.5, similarity_boost: null, use_speaker_boost: true },
    generation_config: { chunk_length_schedule: [50, 500] },
    pronunciation_dictionary_locators: [{ pronunciation_dictionary_id: 'x', version_id: 'y' }],
    authorization: 'bearer  abc',
  };
  assert.deepEqual(readClientMessage(JSON.stringify(message)), {
    text: 'Hi ',
    contextId: 'a',
    flush: true,
    trigger: true,
    closeContext: false,
    closeSocket: false,
    speed: 0.7,
    schedule: [50, 500],
    key: 'abc',
  });
  const later = readClientMessage('{"text":"x","generator_config":{"chunk_length_schedule":[60]}}');
  assert.deepEqual(later.schedule, [60]);
});

for (const [message, named] of [
  ['', /must be JSON/],
  ['[]', /JSON object/],
  ['null', /JSON object/],
  ['{"text":1}', /"text" must be a string/],
  ['{"text":"x","flush":"yes"}', /"flush" must be true or false/],
  ['{"text":"x","try_trigger_generation":1}', /"try_trigger_generation"/],
  ['{"close_socket":"now"}', /"close_socket"/],
  ['{"context_id":7,"text":"x"}', /"context_id" must be a string/],
  [`{"context_id":"${'x'.repeat(257)}","text":"x"}`, /at most 256/],
  ['{"voice_settings":"fast"}', /"voice_settings" must be an object/],
  ['{"voice_settings":{"speed":0.1}}', /"voice_settings.speed" must be a number from 0.25 to 4/],
  ['{"voice_settings":{"speed":"1"}}', /"voice_settings.speed"/],
  [
    '{"generation_config":{"chunk_length_schedule":[49]}}',
    /"generation_config.chunk_length_schedule".* from 50 to 500/,
  ],
  ['{"generation_config":{"chunk_length_schedule":[]}}', /1 to 100/],
  ['{"generator_config":{"chunk_length_schedule":[50,501]}}', /"generator_config.chunk_length_schedule"/],
  ['{"generation_config":[]}', /"generation_config" must be an object/],
  ['{"xi_api_key":5}', /"xi_api_key" must be a string/],
] as const) {
  test(`the message ${message.slice(0, 60)} is refused by name, and the socket closes`, () => {
    for (const open of [openStreamInput, openMulti]) {
      const { peer, conversation } = open();
      conversation.message(message);
      assert.match(peer.messages[0]?.message ?? '', named);
      assert.equal(peer.closedWith?.[0], 1008);
      assert.ok(Buffer.byteLength(peer.closedWith?.[1] ?? '') <= 123);
    }
  });
}

test('a binary message is refused', () => {
  const { peer, conversation } = openMulti();
  conversation.message(Buffer.from('{"text":"x"}'));
  assert.deepEqual([peer.messages[0]?.error, peer.closedWith?.[0]], ['invalid_message', 1008]);
});

const GOOD: readonly object[] = [
  { text: ' ', voice_settings: { speed: 1 }, generation_config: { chunk_length_schedule: [50] } },
  { text: 'One is here. Two is there. ', context_id: 'a' },
  { text: 'Three ', context_id: 'b', flush: true },
  { text: 'Four. ', try_trigger_generation: true },
  { context_id: 'a', flush: true },
  { context_id: 'a', close_context: true },
  { context_id: 'b', close_context: true },
  { text: '', context_id: 'c' },
  { text: '🙂 <b> \u0000 ', context_id: 'c' },
];

test('whatever comes, nothing is thrown, and a socket that goes is left clean', async () => {
  const random = randomFrom(20_261_120);
  for (let round = 0; round < 150; round++) {
    const open = round % 2 === 0 ? openMulti : openStreamInput;
    const auto = random() < 0.3 ? '&auto_mode=true' : '';
    const { peer, conversation, speaker, time } = open({ query: `output_format=pcm_8000${auto}` });
    for (let count = Math.ceil(random() * 40); count > 0; count--) {
      const good = JSON.stringify(GOOD[Math.floor(random() * GOOD.length)]);
      conversation.message(random() < 0.05 ? mutated(good, random) : good);
      if (random() < 0.2) await settled();
      if (random() < 0.1) time.advance(random() * 15_000);
      if (random() < 0.1) speaker.allow(Math.floor(random() * 30));
    }
    if (random() < 0.3) conversation.message(open === openMulti ? '{"close_socket":true}' : '{"text":""}');
    await settled();
    await conversation.closed();
    await settled();
    assert.equal(time.waiting, 0);
    assert.ok(speaker.sounds.every(({ cancelled }) => cancelled));
    for (const { alignment, audio } of peer.messages) {
      if (!alignment) continue;
      const ms = alignment.charDurationsMs.reduce((sum, duration) => sum + duration, 0);
      assert.ok(Math.abs(ms - Buffer.from(audio ?? '', 'base64').length / 16) <= 1);
    }
  }
});

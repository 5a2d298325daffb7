// The npm package `@elevenlabs/elevenlabs-js`, unchanged, with nothing but its
// base URL set.
import { ElevenLabsClient, ElevenLabsError } from '@elevenlabs/elevenlabs-js';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Server } from '../../src/main.js';
import { decoded, probed } from '../fakes/ffmpeg.js';
import { KEY, speakingServer, TEXT } from './speaking-server.js';

let server: Server;
let client: ElevenLabsClient;

before(async () => {
  server = await speakingServer();
  client = clientOf(KEY);
});
after(() => server.close());

function clientOf(apiKey: string): ElevenLabsClient {
  return new ElevenLabsClient({ apiKey, baseUrl: server.url, maxRetries: 0 });
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function refusal(asked: PromiseLike<unknown>): Promise<ElevenLabsError> {
  const error: unknown = await Promise.resolve(asked).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ElevenLabsError, String(error));
  return error;
}

test('a text is converted, and streamed, to what the output format says', async () => {
  const pcm = await bytesOf(
    await client.textToSpeech.convert('slt', { text: TEXT, outputFormat: 'pcm_24000' }),
  );
  const seconds = pcm.length / 2 / 24_000;
  const ulaw = await bytesOf(
    await client.textToSpeech.stream('slt', { text: TEXT, outputFormat: 'ulaw_8000' }),
  );
  assert.ok(Math.abs(ulaw.length / 8000 - seconds) < 0.01);
  const cases = [
    [undefined, { format: 'mp3', codec: 'mp3', rate: 44_100, channels: 1 }],
    ['mp3_22050_32', { format: 'mp3', codec: 'mp3', rate: 22_050, channels: 1 }],
    ['opus_48000_64', { format: 'ogg', codec: 'opus', rate: 48_000, channels: 1 }],
    ['wav_16000', { format: 'wav', codec: 'pcm_s16le', rate: 16_000, channels: 1 }],
  ] as const;
  for (const [outputFormat, nature] of cases) {
    const asked = {
      text: TEXT,
      modelId: 'eleven_turbo_v2_5',
      ...(outputFormat === undefined ? {} : { outputFormat }),
    };
    const converted = await bytesOf(await client.textToSpeech.convert('slt', asked));
    assert.deepEqual(probed(converted), nature);
    const length = decoded(converted).length / nature.rate;
    assert.ok(Math.abs(length - seconds) < 0.15, `${outputFormat}: ${length} s, not ${seconds} s`);
  }
});

test('a stream is the bytes of the conversion, which are kept', async () => {
  for (const outputFormat of ['mp3_44100_128', 'opus_48000_32', 'alaw_8000'] as const) {
    const asked = { text: TEXT, outputFormat };
    const converted = await bytesOf(await client.textToSpeech.convert('awb', asked));
    const { data, rawResponse } = await client.textToSpeech.stream('awb', asked).withRawResponse();
    assert.equal(rawResponse.headers.get('x-cache'), 'hit');
    assert.ok(converted.equals(await bytesOf(data)), outputFormat);
  }
});

test('twice the speed is half the time', async () => {
  const ask = async (speed: number) => {
    const asked = {
      text: TEXT,
      outputFormat: 'pcm_16000',
      voiceSettings: { stability: 0.4, speed },
    } as const;
    return (await bytesOf(await client.textToSpeech.convert('slt', asked))).length;
  };
  const ratio = (await ask(1)) / (await ask(2));
  assert.ok(Math.abs(ratio - 2) < 0.1, String(ratio));
});

test('with timestamps, the characters are those of the text, in order of time, within the sound', async () => {
  const answer = await client.textToSpeech.convertWithTimestamps('slt', {
    text: TEXT,
    outputFormat: 'pcm_8000',
  });
  const seconds = Buffer.from(answer.audioBase64, 'base64').length / 2 / 8000;
  for (const alignment of [answer.alignment, answer.normalizedAlignment]) {
    assert.ok(alignment !== undefined);
    const { characters, characterStartTimesSeconds: starts, characterEndTimesSeconds: ends } = alignment;
    assert.equal(characters.join(''), TEXT);
    // The first word begins after the silence that flite begins with.
    assert.ok((starts[0] ?? -1) >= 0 && (starts[0] ?? 1) < 0.1, `${starts[0]} s`);
    assert.ok(Math.abs((ends.at(-1) ?? 0) - seconds) < 0.02, `${ends.at(-1)} s of ${seconds} s`);
    for (const [at, start] of starts.entries()) {
      assert.ok(start <= (ends[at] ?? 0) && (at === 0 || start >= (ends[at - 1] ?? 0)));
    }
  }
});

test('a stream with timestamps is the same sound in pieces, and its alignments add up to the text', async () => {
  const asked = { text: TEXT, outputFormat: 'pcm_8000' } as const;
  const whole = await client.textToSpeech.convertWithTimestamps('rms', { ...asked, text: `${TEXT} ` });
  const sound: Buffer[] = [];
  const texts: string[] = [];
  const starts: number[] = [];
  for await (const chunk of await client.textToSpeech.streamWithTimestamps('rms', asked)) {
    sound.push(Buffer.from(chunk.audioBase64, 'base64'));
    if (chunk.alignment === undefined) continue;
    texts.push(chunk.alignment.characters.join(''));
    starts.push(...chunk.alignment.characterStartTimesSeconds);
  }
  assert.ok(Buffer.concat(sound).equals(Buffer.from(whole.audioBase64, 'base64')));
  assert.equal(texts.join(''), TEXT);
  assert.deepEqual(starts, whole.alignment?.characterStartTimesSeconds.slice(0, TEXT.length));
});

test('the voices are listed and searched, and each one speaks by its id', async () => {
  const { voices } = await client.voices.getAll();
  assert.ok(voices.length > 1);
  const found = await client.voices.search({ search: 'scottish', pageSize: 10 });
  assert.deepEqual([found.voices.length, found.totalCount, found.hasMore], [1, 1, false]);
  const [voice] = found.voices;
  assert.equal((await client.voices.get(voice?.voiceId ?? '')).name, voice?.name);
  for (const { voiceId } of voices) {
    const sound = await bytesOf(await client.textToSpeech.convert(voiceId, { text: 'Yes.' }));
    assert.ok(sound.length > 1000, voiceId);
  }
});

test('the models are listed', async () => {
  const [model, ...others] = await client.models.list();
  assert.deepEqual([model?.modelId, model?.canDoTextToSpeech, others.length], ['parley', true, 0]);
  assert.ok(model?.languages?.some(({ languageId }) => languageId.startsWith('en')));
  await refusal(clientOf('wrong-key-0123456789').models.list());
});

test('what is refused has its status, its reason and the id of the request', async () => {
  const unknown = await refusal(client.textToSpeech.convert('21m00Tcm4TlvDq8ikWAM', { text: 'Hello.' }));
  assert.equal(unknown.statusCode, 400);
  const { detail } = unknown.body as { detail: { status: string; message: string } };
  assert.equal(detail.status, 'voice_not_found');
  assert.match(detail.message, /the nearest are /);
  assert.match(unknown.requestId ?? '', /^req_/);
  const empty = await refusal(client.textToSpeech.stream('slt', { text: '...' }));
  assert.equal(empty.statusCode, 400);
  const stranger = await refusal(clientOf('not-one-of-the-keys').voices.getAll());
  assert.equal(stranger.statusCode, 401);
  assert.equal((stranger.body as { detail: { status: string } }).detail.status, 'invalid_api_key');
});

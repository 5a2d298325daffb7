// Speakers of a file with a channel for each, as recorders of calls write it: with a scripted transcriber,
// and with a tiny checkpoint.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Qwen3Recogniser } from '../../../src/engines/qwen3/qwen3-recogniser.js';
import { Scheduler } from '../../../src/engines/scheduler.js';
import { ParleyError } from '../../../src/errors.js';
import { systemTime } from '../../../src/time.js';
import { SoundDecoders } from '../../../src/transcribing/sound-decoders.js';
import { Transcriber } from '../../../src/transcribing/transcriber.js';
import { GOLDEN } from '../../engines/golden.js';
import { channelsWav } from '../../transcribing/two-channels.js';
import { errorIn, openServer } from '../app-under-test.js';
import { FakeTranscriber, piece } from '../fake-transcriber.js';

const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const SOUND = Buffer.from('the bytes of a sound');

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A call: the second speaker answers while the first still speaks. */
async function openCall(t: TestContext) {
  const transcriber = new FakeTranscriber();
  transcriber.pieces = [piece('Good morning. Who is there?', 0, 4), piece('Fine.', 8, 9)];
  transcriber.secondPieces = [piece('Hello. It is Tom & Co.', 3, 8, { language: 'de' })];
  const transcription = { transcriber, translator: undefined, maxBytes: 10_000, maxRequests: 4 };
  return { ...(await openServer(t, { transcription })), transcriber };
}

function post(url: string, fields: Fields, file: Uint8Array = SOUND): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(file)]), 'call.wav');
  for (const [name, values] of Object.entries(fields))
    for (const value of [values].flat()) form.append(name, value);
  return fetch(url + TRANSCRIPTIONS, { method: 'POST', body: form });
}

interface Segment {
  readonly type: string;
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly speaker: string;
}

async function segmentsOf(answer: Response): Promise<readonly Segment[]> {
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { segments: readonly Segment[] }).segments;
}

const SAID = [
  ['A', 'Good morning.'],
  ['A', 'Who is there?'],
  ['B', 'Hello.'],
  ['B', 'It is Tom & Co.'],
  ['A', 'Fine.'],
];

test('diarized JSON has the sentences of both channels in the order of time', async (t) => {
  const { url, transcriber } = await openCall(t);
  const answer = await post(url, { response_format: 'diarized_json' });
  const body = (await answer.json()) as { segments: readonly Segment[] };
  const { segments, ...rest } = body;
  assert.deepEqual(rest, {
    task: 'transcribe',
    duration: 9,
    text: 'Good morning. Who is there? Hello. It is Tom & Co. Fine.',
    usage: { type: 'duration', seconds: 9 },
  });
  assert.deepEqual(
    segments.map(({ speaker, text }) => [speaker, text]),
    SAID,
  );
  const [first] = segments;
  assert.deepEqual([first?.type, first?.id, first?.start], ['transcript.text.segment', 'seg_001', 0]);
  assert.deepEqual(
    transcriber.asked.map(({ request, bytes }) => [request.channel, bytes]),
    [
      [0, SOUND],
      [1, SOUND],
    ],
  );
  assert.equal(answer.headers.get('x-latency-infer-ms'), '6');
});

test('both channels are recognised in one place, which is given back', async (t) => {
  const { url, transcriber } = await openCall(t);
  const answer = await post(url, { response_format: 'diarized_json' });
  assert.equal(answer.headers.get('x-latency-queue-ms'), '5');
  const [first, second] = transcriber.asked.map(({ request }) => request.place);
  assert.ok(first !== undefined && first === second);
  assert.deepEqual(transcriber.places, { taken: 1, released: 1 });
  transcriber.failure = new ParleyError('AUDIO_INVALID', 'broken');
  assert.equal((await post(url, { response_format: 'diarized_json' })).status, 400);
  assert.deepEqual(transcriber.places, { taken: 2, released: 2 });
});

test('a body that is the file itself is read twice as well', async (t) => {
  const { url, transcriber } = await openCall(t);
  const answer = await fetch(`${url}${TRANSCRIPTIONS}?response_format=diarized_json`, {
    method: 'POST',
    headers: { 'content-type': 'audio/wav' },
    body: SOUND,
  });
  assert.equal((await segmentsOf(answer)).length, SAID.length);
  assert.deepEqual(
    transcriber.asked.map(({ bytes }) => bytes),
    [SOUND, SOUND],
  );
});

test('a mono file has one speaker, and is recognised once', async (t) => {
  const { url, transcriber } = await openCall(t);
  transcriber.secondPieces = undefined;
  const segments = await segmentsOf(await post(url, { response_format: 'diarized_json' }));
  assert.deepEqual(
    segments.map(({ speaker }) => speaker),
    ['A', 'A', 'A'],
  );
  assert.equal(transcriber.asked.length, 1);
});

test('verbose JSON names speakers where labels are given, and mixes the channels where none are', async (t) => {
  const { url, transcriber } = await openCall(t);
  const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': ['word', 'segment'] };
  const named = await post(url, { ...fields, 'speaker_labels[]': ['Agent', 'Caller'] });
  const body = (await named.json()) as { segments: readonly Segment[]; words: readonly Segment[] };
  assert.deepEqual(
    body.segments.map(({ speaker }) => speaker),
    ['Agent', 'Agent', 'Caller', 'Caller', 'Agent'],
  );
  assert.deepEqual(new Set(body.words.map(({ speaker }) => speaker)), new Set(['Agent', 'Caller']));
  const mixed = await segmentsOf(await post(url, fields));
  assert.ok(mixed.every((segment) => !('speaker' in segment)));
  assert.equal(transcriber.asked.at(-1)?.request.channel, undefined);
});

test('subtitles name the speaker: SRT in the text, WebVTT as the voice', async (t) => {
  const { url } = await openCall(t);
  const labels = { 'speaker_labels[]': ['Ann & Bo', 'Tom'] };
  const srt = await (await post(url, { response_format: 'srt', ...labels })).text();
  assert.match(srt, /^1\n00:00:00,000 --> .*\nAnn & Bo: Good morning\.\n/);
  assert.match(srt, /\nTom: Hello\.\n/);
  const vtt = await (await post(url, { response_format: 'vtt', ...labels })).text();
  assert.match(vtt, /^WEBVTT\n\n00:00:00\.000 --> .*\n<v Ann &amp; Bo>Good morning\.\n/);
  assert.match(vtt, /\n<v Tom>It is Tom &amp; Co\.\n/);
  const starts = Array.from(vtt.matchAll(/^([\d:.]+) -->/gm), ([, start = '']) => start);
  assert.deepEqual(starts, starts.toSorted());
  const narrow = { response_format: 'srt', max_line_chars: '24', ...labels };
  const lines = (await (await post(url, narrow)).text()).split('\n');
  assert.ok(lines.every((line) => line.includes('-->') || line.length <= 24));
});

test('labels that do not fit are refused, and those without use are named', async (t) => {
  const { url, transcriber } = await openCall(t);
  const refused = async (fields: Fields) => {
    const answer = await post(url, { response_format: 'diarized_json', ...fields });
    assert.equal(answer.status, 400);
    return errorIn(await answer.text()).message;
  };
  assert.match(await refused({ stream: 'true' }), /"stream" must be false if speakers are told apart/);
  assert.match(await refused({ 'speaker_labels[]': ['Ann', 'Ann'] }), /must be two different names/);
  for (const labels of [['a', 'b', 'c'], ['two\nlines'], ['x'.repeat(41)]])
    assert.match(await refused({ 'speaker_labels[]': labels }), /"speaker_labels/);
  assert.equal(transcriber.asked.length, 0);
  const ignored = await post(url, { 'speaker_labels[]': 'Ann' });
  assert.equal(ignored.headers.get('x-ignored-fields'), 'speaker_labels');
});

function clip(name: string): Float32Array {
  const bytes = readFileSync(join(GOLDEN, 'clips', `${name}.wav`));
  const samples = new Int16Array(Uint8Array.from(bytes.subarray(44)).buffer);
  return Float32Array.from(samples, (sample) => sample / 32_768);
}

/** The shorter one ends with silence. */
function sameLength(a: Float32Array, b: Float32Array): readonly [Float32Array, Float32Array] {
  const length = Math.max(a.length, b.length);
  const padded = (samples: Float32Array) => Float32Array.from({ length }, (_, at) => samples[at] ?? 0);
  return [padded(a), padded(b)];
}

test('a checkpoint recognises each channel of a stereo file as it does a file of its own', async (t) => {
  const native = { quantize: 'none', cacheFormat: 'f32', threads: 1, cores: [], warmUp: false } as const;
  const directory = join(GOLDEN, 'tiny-asr-a');
  const options = { maxSessions: 8, stallMs: 20_000, native: { ...native, directory } };
  const recogniser = await Qwen3Recogniser.open(options);
  const decoders = new SoundDecoders({ time: systemTime, ffmpeg: undefined });
  t.after(() => decoders.close());
  t.after(() => recogniser.close());
  const queue = new Scheduler({ engine: recogniser.name, concurrency: 4, maxWaiting: 4 });
  const now = () => performance.now();
  const parts = { recogniser, aligner: undefined, decoders, queue, now, maxSeconds: 100 };
  const transcriber = new Transcriber(parts);
  const transcription = { transcriber, translator: undefined, maxBytes: 1e7, maxRequests: 4 };
  const { url } = await openServer(t, { transcription });
  const [left, right] = sameLength(clip('odd37'), clip('zh52'));
  const textOf = async (channel: Float32Array) => {
    const answer = await post(url, { response_format: 'text' }, channelsWav([channel]));
    return (await answer.text()).trim();
  };
  const alone = [await textOf(left), await textOf(right)];
  assert.ok(alone.every((text) => text !== '') && alone[0] !== alone[1], alone.join(' | '));
  const both = channelsWav([left, right]);
  const segments = await segmentsOf(await post(url, { response_format: 'diarized_json' }, both));
  const ofSpeaker = (label: string) =>
    segments.filter(({ speaker }) => speaker === label).map(({ text }) => text);
  assert.deepEqual([ofSpeaker('A').join(' '), ofSpeaker('B').join(' ')], alone);
  const doubled = await segmentsOf(
    await post(url, { response_format: 'diarized_json' }, channelsWav([left, left])),
  );
  assert.deepEqual([...new Set(doubled.map(({ speaker }) => speaker))], ['A']);
});

// The text of pieces together: spaces, sentences, words, languages, cues.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CUE_RULES } from '../../src/transcribing/cues.js';
import { Transcript } from '../../src/transcribing/transcript.js';
import { piece } from '../api/fake-transcriber.js';

function transcriptOf(...pieces: Parameters<typeof piece>[]): Transcript {
  const transcript = new Transcript();
  for (const one of pieces) transcript.add(piece(...one));
  return transcript;
}

test('pieces are joined with a space, except beside Chinese, Japanese and Korean', () => {
  const transcript = new Transcript();
  const deltas = [' Hello. ', 'Bye.', '', '今天', '天气。', 'Yes.'].map((text, n) =>
    transcript.add(piece(text, n, n + 1)),
  );
  assert.deepEqual(deltas, ['Hello.', ' Bye.', '', '今天', '天气。', 'Yes.']);
  assert.equal(transcript.text, 'Hello. Bye.今天天气。Yes.');
});

test('sentences hold all of the text, also what is no word', () => {
  const transcript = transcriptOf(['… Well. Dr. Smith said "No." — and left!', 0, 8], ['...', 8, 9]);
  assert.deepEqual(
    transcript.sentences().map(({ text }) => text),
    ['… Well.', 'Dr. Smith said "No." — and left!'],
  );
  const [first, second] = transcript.sentences();
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(first.endSeconds <= second.beginSeconds);
  assert.equal(second.endSeconds, 8);
});

test('languages are told by the length of their sound', () => {
  const transcript = transcriptOf(
    ['One.', 0, 1, { language: 'en' }],
    ['Zwei.', 1, 5, { language: 'de' }],
    ['Three.', 5, 6, { language: 'en' }],
    ['?', 6, 9, { language: undefined }],
  );
  assert.deepEqual(transcript.languages, ['de', 'en']);
});

test('times are accurate only if all of them are', () => {
  assert.equal(transcriptOf(['One.', 0, 1]).times, 'accurate');
  assert.equal(transcriptOf(['One.', 0, 1], ['Two.', 1, 2, { isAligned: false }]).times, 'mixed');
  assert.equal(transcriptOf(['Two.', 1, 2, { isAligned: false }]).times, 'fast');
  assert.equal(transcriptOf().times, 'fast');
});

test('cues of pieces that overlap do not', () => {
  const transcript = new Transcript(CUE_RULES);
  transcript.add(piece('One two.', 0, 3));
  transcript.add(piece('Three four.', 2, 4));
  const cues = transcript.cues();
  assert.equal(cues.length, 2);
  assert.equal(cues[1]?.beginMs, cues[0]?.endMs);
});

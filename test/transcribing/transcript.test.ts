// The text of pieces together: spaces, sentences, words, languages, cues.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CUE_RULES } from '../../src/transcribing/cues.js';
import { writtenPiece } from '../../src/transcribing/written-piece.js';
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

test('a piece is written with figures, which have the time of their words; the words stay as they were heard', () => {
  const heard = piece('Call at half past three, or pay three dollars and fifty cents now.', 0, 13);
  const written = writtenPiece(heard, undefined);
  assert.equal(written.text, 'Call at 3:30, or pay $3.50 now.');
  assert.deepEqual(
    written.words.map(({ start, end }) => written.text.slice(start, end)),
    ['Call', 'at', '3:30', 'or', 'pay', '$3.50', 'now'],
  );
  const wordOf = (text: string) =>
    heard.words.find(({ start, end }) => heard.text.slice(start, end) === text);
  assert.equal(written.words[2]?.beginSeconds, wordOf('half')?.beginSeconds);
  assert.equal(written.words[5]?.endSeconds, wordOf('cents')?.endSeconds);
  const transcript = new Transcript();
  transcript.add(written);
  assert.equal(transcript.text, written.text);
  assert.equal(transcript.words().length, heard.words.length);
});

test('a piece stays as it was heard without a known language, and the stated one is used where none was found', () => {
  const unknown = piece('vier zwo null sieben', 0, 2, { language: undefined });
  assert.equal(writtenPiece(unknown, undefined), unknown);
  assert.equal(writtenPiece(unknown, 'de').text, '4207');
});

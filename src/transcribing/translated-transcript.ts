// Translates a transcript: its sentences, or its cues, whose numbers and times stay as they are.
import { joinTexts } from '../engines/openai/transcription-client.js';
import type { Cue, CueRules } from './cues.js';
import { linesOf } from './line-breaks.js';
import type { TimedStretch, Transcript } from './transcript.js';
import type { Languages, Translator } from './translator.js';

type TranslatesLines = Pick<Translator, 'translate'>;

export async function translateSentences(
  transcript: Transcript,
  { translator, to, signal }: { translator: TranslatesLines; to: string; signal: AbortSignal },
): Promise<{ readonly text: string; readonly sentences: readonly TimedStretch[] }> {
  const sentences = transcript.sentences();
  const lines = sentences.map(({ text }) => text);
  const translated = await translator.translate(lines, languagesOf(transcript, to), signal);
  return {
    text: joinTexts(translated),
    sentences: sentences.map((sentence, n) => ({ ...sentence, text: translated[n] ?? '' })),
  };
}

export async function translateCues(
  transcript: Transcript,
  { maxLineColumns }: CueRules,
  { translator, to, signal }: { translator: TranslatesLines; to: string; signal: AbortSignal },
): Promise<Cue[]> {
  const cues = transcript.cues();
  const lines = cues.map((cue) => joinTexts(cue.lines));
  const translated = await translator.translate(lines, languagesOf(transcript, to), signal);
  return cues.map(({ beginMs, endMs }, n) => {
    const shown = linesOf(translated[n] ?? '', maxLineColumns, to);
    return { beginMs, endMs, lines: shown, words: [] };
  });
}

function languagesOf(transcript: Transcript, to: string): Languages {
  const { languages } = transcript;
  return { from: languages.length === 1 ? languages[0] : undefined, to };
}

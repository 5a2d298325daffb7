// Translates a transcript: its sentences, or its cues, whose times stay as they are. A cue whose translation
// is too long for two lines becomes several.
import { joinTexts } from '../engines/openai/transcription-client.js';
import { type Cue, type CueRules, inOrder, replacedCue } from './cues.js';
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
  rules: CueRules,
  { translator, to, signal }: { translator: TranslatesLines; to: string; signal: AbortSignal },
): Promise<Cue[]> {
  const cues = transcript.cues();
  const lines = cues.map((cue) => joinTexts(cue.lines));
  const translated = await translator.translate(lines, languagesOf(transcript, to), signal);
  return inOrder(cues.flatMap((cue, n) => replacedCue(translated[n] ?? '', cue, rules, to)));
}

function languagesOf(transcript: Transcript, to: string): Languages {
  const { languages } = transcript;
  return { from: languages.length === 1 ? languages[0] : undefined, to };
}

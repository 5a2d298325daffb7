// Writes cues as SubRip (SRT) and as WebVTT (https://www.w3.org/TR/webvtt1/). Each cue is written by itself,
// so that files of any length can be sent as they are made.
import type { Cue, CueWord } from './cues.js';

type SubtitleFormat = 'srt' | 'vtt';

export const CONTENT_TYPES: Readonly<Record<SubtitleFormat, string>> = {
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

/** Returns the text before the first cue. */
export function headOf(format: SubtitleFormat): string {
  return format === 'vtt' ? 'WEBVTT\n\n' : '';
}

/** @param index number of the cue, from 1 */
export function srtCue({ beginMs, endMs, lines, speaker }: Cue, index: number): string {
  const text = `${speaker === undefined ? '' : srtSpeaker(speaker)}${lines.join('\n')}`;
  return `${index}\n${timestamp(beginMs, ',')} --> ${timestamp(endMs, ',')}\n${text}\n\n`;
}

/** The text before the first line of a speaker's cue: SubRip has no field for it. */
export function srtSpeaker(speaker: string): string {
  return `${speaker}: `;
}

/**
 * A speaker is the voice of the text (WebVTT section 4.2.2). With `isWordLevel` each word after the
 * first has its own time.
 */
export function vttCue({ beginMs, endMs, lines, words, speaker }: Cue, isWordLevel = false): string {
  const text = isWordLevel ? timedLines(lines, words, { beginMs, endMs }) : lines.map(escaped).join('\n');
  const voice = speaker === undefined ? '' : `<v ${escaped(speaker)}>`;
  return `${timestamp(beginMs, '.')} --> ${timestamp(endMs, '.')}\n${voice}${text}\n\n`;
}

/** `HH:MM:SS.mmm`; hours may have more digits. */
function timestamp(ms: number, point: ',' | '.'): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(ms % 1000).padStart(3, '0');
  return `${two(hours)}:${two(minutes)}:${two(seconds % 60)}${point}${rest}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * A timestamp must be later than the one before it and the cue's beginning, and earlier than the cue's
 * end.
 */
function timedLines(
  lines: readonly string[],
  words: readonly CueWord[],
  { beginMs, endMs }: { readonly beginMs: number; readonly endMs: number },
): string {
  let latest = beginMs;
  let left = lines[0]?.length ?? 0;
  let text = '';
  words.forEach((word, n) => {
    const space = n > 0 && word.isSpaceBefore ? ' ' : '';
    const isNewLine = n > 0 && left <= 0;
    if (isNewLine) left = lines[1]?.length ?? 0;
    left -= word.text.length + (isNewLine ? 0 : space.length);
    const isLater = word.beginMs > latest && word.beginMs < endMs;
    if (isLater) latest = word.beginMs;
    text +=
      (isNewLine ? '\n' : space) + (isLater ? `<${timestamp(word.beginMs, '.')}>` : '') + escaped(word.text);
  });
  return text;
}

// Sends a file to be transcribed or translated, and reads the events of the answer.
import { authorization, eventsOf, refusalOf } from './parley-http.js';

const TRANSCRIPTIONS = 'v1/audio/transcriptions';
const TRANSLATIONS = 'v1/audio/translations';

/**
 * Resolves with the text and its subtitles as WebVTT. `into` is a language tag, or empty for no translation.
 * `onProgress` gets the share of the file that was read, and the text so far. Rejects with CallError, or with
 * an AbortError.
 */
export async function transcribeFile(file, { into, key, signal, onProgress }) {
  const fields = { stream: 'true', 'include[]': 'progress', response_format: 'vtt' };
  if (into !== '') fields.language = into;
  const path = into === '' ? TRANSCRIPTIONS : TRANSLATIONS;
  const answer = await fetch(`${path}?${new URLSearchParams(fields)}`, {
    method: 'POST',
    headers: { 'Content-Type': typeOf(file), ...authorization(key) },
    body: file,
    signal,
  });
  if (!answer.ok) throw await refusalOf(answer);
  let text = '';
  for await (const { data: event } of eventsOf(answer.body)) {
    if (event.type === 'error') throw await refusalOf(Response.json(event, { status: 500 }));
    if (event.type === 'transcript.text.delta') text += event.delta;
    if (event.type === 'transcript.progress') onProgress(event.bytes / file.size, text);
    if (event.type === 'transcript.text.done') return { text: event.text, vtt: event.subtitles };
  }
  throw new Error('The answer of the server broke off.');
}

/** A body that is a file must be a sound or a video; some systems know no type for an ending. */
function typeOf({ type }) {
  return /^(audio|video)\//.test(type) ? type : 'application/octet-stream';
}

/** WebVTT without markup as SubRip. */
export function srtOf(vtt) {
  return vtt
    .split('\n\n')
    .filter((block) => block.includes(' --> '))
    .map((block, n) => {
      const [times, ...lines] = block.split('\n');
      return `${n + 1}\n${times.replaceAll('.', ',')}\n${lines.map(plain).join('\n')}\n\n`;
    })
    .join('');
}

function plain(line) {
  return line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

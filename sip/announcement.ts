// What a caller asks to be spoken in the request itself, in the manner of RFC
// 4240: `sip:annc@host;text=Hello%20there;voice=slt;locale=en-US`, `play` with
// a text in a data URL, or the header fields X-Speech-Text, -Voice, -Language.
import type { Parameters } from './message/parameters.js';
import { refused, type Result } from './message/refusal.js';

export interface Announcement {
  readonly text: string;
  readonly voice?: string;
  /** BCP 47 tag. */
  readonly language?: string;
}

export interface AnnouncementRequest {
  readonly params: Parameters;
  /** The first value of a header field, by name. */
  readonly header: (name: string) => string | undefined;
}

const VOICE = /^[\w .:+-]{1,100}$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i;

/** Undefined where the request asks for nothing to be spoken. */
export function announcementIn(
  { params, header }: AnnouncementRequest,
  mostCharacters: number,
): Result<Announcement | undefined> {
  const play = params.get('play');
  const inUri = params.get('text') ?? (play === undefined ? undefined : textOfData(play));
  if (play !== undefined && inUri === undefined) return refused(404, 'what play names is not available here');
  const text = (inUri ?? header('x-speech-text'))?.trim();
  if (text === undefined || text === '') return { value: undefined };
  if (text.length > mostCharacters) {
    return refused(
      inUri === undefined ? 413 : 414,
      `the text to speak has more than ${mostCharacters} characters`,
    );
  }
  const voice = params.get('voice') ?? header('x-speech-voice');
  const language = params.get('language') ?? params.get('locale') ?? header('x-speech-language');
  if (voice !== undefined && !VOICE.test(voice)) return refused(400, 'the voice is not a name');
  const tag = language?.replace('_', '-');
  if (tag !== undefined && !LANGUAGE.test(tag))
    return refused(400, 'the language is not a tag such as en-US');
  return {
    value: {
      text,
      ...(voice === undefined ? {} : { voice }),
      ...(tag === undefined ? {} : { language: tag }),
    },
  };
}

/** The text of a `data:` URL (RFC 2397); anything else would have to be fetched for a caller. */
function textOfData(url: string): string | undefined {
  const [, base64, data = ''] =
    /^data:(?:text\/plain)?(?:;charset=utf-8)?(;base64)?,([^]*)$/i.exec(url) ?? [];
  if (data === '') return undefined;
  if (base64 !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    return data; // the escapes were resolved with those of the URI, and a percent sign is meant
  }
}

// Reads what an application says in the ConversationRelay protocol: the attributes of its session, and its
// messages. Those of Twilio have Twilio's fields and defaults; `utteranceId`, `clear`, `mark` and `flush` are
// additions. It also words the errors that the application is told.
//
// https://www.twilio.com/docs/voice/conversationrelay/websocket-messages
import {
  choiceIn,
  type Fields,
  flagIn,
  invalid,
  readFields,
  stringIn,
  wholeIn,
} from '../http/message-fields.js';
import { socketError } from '../http/error-reply.js';
import { FieldReader } from '../../config/fields.js';
import type { RelayAttributes } from '../../config/relay-config.js';
import { ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';
import { isStatedLanguage, tagOfStated } from '../../speaking/language-plan.js';
import { INTERRUPTIBLE, type Interruptible } from '../../call/utterance.js';

interface Interruption {
  /** Absent: as the session says. */
  readonly interruptible?: Interruptible | undefined;
  /** The next text may end it. Absent: as the session says. */
  readonly preemptible?: boolean | undefined;
}

export interface TextMessage extends Interruption {
  readonly type: 'text';
  readonly token: string;
  /** The text is complete with this token. */
  readonly last: boolean;
  readonly lang?: string | undefined;
  readonly utteranceId?: string | undefined;
}

export interface PlayMessage extends Interruption {
  readonly type: 'play';
  readonly source: string;
  /** Number of times; 0 and 1 are once, as with Twilio. */
  readonly loop: number;
}

export type RelayMessage =
  | TextMessage
  | PlayMessage
  | { readonly type: 'sendDigits'; readonly digits: string }
  | {
      readonly type: 'language';
      readonly ttsLanguage?: string | undefined;
      readonly transcriptionLanguage?: string | undefined;
    }
  | { readonly type: 'end'; readonly handoffData: string | undefined }
  | { readonly type: 'clear' }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'flush' };

/** The largest message, in bytes; larger ones end a socket. */
export const MOST_MESSAGE_BYTES = 1024 * 1024;
const MOST_TOKEN = 65_536; // UTF-16 units
const MOST_HANDOFF = 4096; // characters
const MOST_NAME = 200;
const MOST_LOOPS = 1000;
const MOST_PROBLEMS = 10; // that one error names
const TYPES = ['text', 'play', 'sendDigits', 'language', 'end', 'clear', 'mark', 'flush'] as const;

/** Unknown fields are ignored, as with Twilio. Throws MALFORMED and INVALID_FIELD. */
export function readRelayMessage(data: string | Uint8Array): RelayMessage {
  if (data.length > MOST_MESSAGE_BYTES)
    throw new ParleyError('MALFORMED', `a message must not be longer than ${MOST_MESSAGE_BYTES} bytes`);
  const fields = readFields(data);
  const type = choiceIn(fields, 'type', TYPES);
  switch (type) {
    case 'text':
      return {
        type,
        token: wanted(fields, 'token', MOST_TOKEN),
        last: flagIn(fields, 'last') ?? false,
        lang: languageIn(fields, 'lang'),
        utteranceId: stringIn(fields, 'utteranceId', MOST_NAME),
        ...interruptionIn(fields),
      };
    case 'play':
      return {
        type,
        source: wanted(fields, 'source', MOST_MESSAGE_BYTES),
        loop: wholeIn(fields, 'loop', 0, MOST_LOOPS) ?? 1,
        ...interruptionIn(fields),
      };
    case 'sendDigits':
      return { type, digits: wanted(fields, 'digits', MOST_NAME) };
    case 'language': {
      const transcriptionLanguage = languageIn(fields, 'transcriptionLanguage');
      return { type, ttsLanguage: languageIn(fields, 'ttsLanguage'), transcriptionLanguage };
    }
    case 'end':
      return { type, handoffData: stringIn(fields, 'handoffData', MOST_HANDOFF) };
    case 'mark':
      return { type, name: wanted(fields, 'name', MOST_NAME) };
    case 'clear':
    case 'flush':
      return { type };
    default:
      throw invalid('type', `must be one of ${TYPES.join(', ')}`);
  }
}

/** Throws INVALID_FIELD, which names the mistakes that were found, up to a number. */
export function checkedAttributes(
  field: string,
  readAttributes: (read: FieldReader) => RelayAttributes,
): RelayAttributes {
  const read = new FieldReader();
  const attributes = readAttributes(read);
  const { problems } = read;
  if (problems.length === 0) return attributes;
  const more = problems.length > MOST_PROBLEMS ? [`${problems.length - MOST_PROBLEMS} more mistakes`] : [];
  const named = [...problems.slice(0, MOST_PROBLEMS), ...more];
  throw new ParleyError('INVALID_FIELD', named.join('; '), { field });
}

/** The words of an error for the application. Defects are logged under the name of the call or request. */
export function wordsOf(error: unknown, id: string, log: Log): string {
  return socketError(error, id, (failure) => log.warn({ id, err: failure }, 'a relay failed')).message;
}

function wanted(fields: Fields, name: string, most: number): string {
  const value = stringIn(fields, name, most);
  if (value === undefined) throw invalid(name, 'must be a string');
  return value;
}

function languageIn(fields: Fields, name: string): string | undefined {
  const language = stringIn(fields, name, MOST_NAME);
  if (language === undefined || language === '') return undefined;
  if (isStatedLanguage(language)) return tagOfStated(language);
  throw invalid(name, 'must be a language tag such as en-US');
}

/** Booleans of older versions of the protocol are taken. */
function interruptionIn(fields: Fields): Interruption {
  const preemptible = flagIn(fields, 'preemptible');
  const { interruptible } = fields;
  if (typeof interruptible === 'boolean')
    return { preemptible, interruptible: interruptible ? 'any' : 'none' };
  return { preemptible, interruptible: choiceIn(fields, 'interruptible', INTERRUPTIBLE) };
}

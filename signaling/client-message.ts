// What a page may say on its data channel: a closed union, checked field by
// field before anything acts on it.
import { ParleyError } from '../src/errors.js';

export type ClientMessage =
  | {
      readonly type: 'text';
      /** A piece of the text, of any length, cut anywhere. */
      readonly token: string;
      /** True: the text is complete with this token. */
      readonly last: boolean;
      readonly voice?: string;
      readonly language?: string;
    }
  | { readonly type: 'clear' };

export const MAX_MESSAGE_BYTES = 64 * 1024;

const MAX_VOICE_CHARACTERS = 100;
const MAX_LANGUAGE_CHARACTERS = 35; // the longest that BCP 47 asks to be ready for (section 4.4.1)
const LANGUAGE = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;

const FIELDS: Readonly<Record<ClientMessage['type'], readonly string[]>> = {
  text: ['type', 'token', 'last', 'voice', 'language'],
  clear: ['type'],
};

type Fields = Readonly<Record<string, unknown>>;

/** Throws MALFORMED for what is no JSON object, INVALID_FIELD naming the field for everything else. */
export function readClientMessage(data: unknown): ClientMessage {
  const fields = readObject(data);
  switch (fields['type']) {
    case 'text':
      refuseOthers(fields, 'text');
      return {
        type: 'text',
        token: readToken(fields['token']),
        last: readLast(fields['last']),
        ...optional('voice', readVoice(fields['voice'])),
        ...optional('language', readLanguage(fields['language'])),
      };
    case 'clear':
      refuseOthers(fields, 'clear');
      return { type: 'clear' };
    default:
      throw invalid('type', `must be one of ${Object.keys(FIELDS).join(', ')}`);
  }
}

function readObject(data: unknown): Fields {
  if (typeof data !== 'string') throw malformed('a message must be text, not binary');
  if (Buffer.byteLength(data) > MAX_MESSAGE_BYTES) {
    throw malformed(`a message must not be longer than ${MAX_MESSAGE_BYTES} bytes`);
  }
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw malformed('a message must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('a message must be a JSON object');
  }
  return value as Fields;
}

function malformed(what: string): ParleyError {
  return new ParleyError('MALFORMED', what);
}

function invalid(field: string, what: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `${field} ${what}`, { field });
}

/** A misspelt field would otherwise be a setting silently ignored. */
function refuseOthers(fields: Fields, type: ClientMessage['type']): void {
  const stray = Object.keys(fields).find((name) => !FIELDS[type].includes(name));
  if (stray !== undefined) {
    throw invalid(
      stray.slice(0, 40),
      `is no field of a ${type} message, which has ${FIELDS[type].join(', ')}`,
    );
  }
}

function readToken(value: unknown): string {
  if (typeof value !== 'string') throw invalid('token', 'must be a string');
  return value;
}

function readLast(value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw invalid('last', 'must be true or false');
  return value ?? false;
}

function readVoice(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '' || value.length > MAX_VOICE_CHARACTERS) {
    throw invalid('voice', `must be a name of 1 to ${MAX_VOICE_CHARACTERS} characters`);
  }
  return value;
}

function readLanguage(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.length > MAX_LANGUAGE_CHARACTERS || !LANGUAGE.test(value)) {
    throw invalid('language', 'must be a language tag such as en or fr-CA');
  }
  return value;
}

function optional<K extends string>(name: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, string>);
}

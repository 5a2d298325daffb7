// The messages of ElevenLabs' clients: JSON in snake case, fields that are not
// known ignored, null as good as absent.
import { SPEEDS } from '../../speaking/audio-format.js';
import { type Fields, flagIn, invalid, readFields, stringIn } from '../http/message-fields.js';

export interface ClientMessage {
  readonly text?: string;
  readonly contextId?: string;
  readonly flush: boolean;
  readonly trigger: boolean;
  readonly closeContext: boolean;
  readonly closeSocket: boolean;
  readonly speed?: number;
  readonly schedule?: readonly number[];
  /** As it stands in the message, without "Bearer". */
  readonly key?: string;
}

export const CHUNK_LENGTHS: readonly [least: number, most: number] = [50, 500];
const MAX_SCHEDULE = 100; // lengths; the last one holds for all that follow
const MAX_CONTEXT_ID = 256; // characters; it comes back with every message

/** Throws MALFORMED or INVALID_FIELD with the field named and what it may be. */
export function readClientMessage(data: string | Uint8Array): ClientMessage {
  const fields = readFields(data);
  const text = stringIn(fields, 'text');
  const contextId = readContextId(fields);
  const speed = readSpeed(fields['voice_settings']);
  const schedule = readSchedule(fields, 'generation_config') ?? readSchedule(fields, 'generator_config');
  const key = readKey(fields);
  return {
    flush: flagIn(fields, 'flush') ?? false,
    trigger: flagIn(fields, 'try_trigger_generation') ?? false,
    closeContext: flagIn(fields, 'close_context') ?? false,
    closeSocket: flagIn(fields, 'close_socket') ?? false,
    ...(text === undefined ? {} : { text }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(speed === undefined ? {} : { speed }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(key === undefined ? {} : { key }),
  };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The second name is the one under which ElevenLabs' own library writes it in one of its messages. */
function readContextId(fields: Fields): string | undefined {
  return stringIn(fields, 'context_id', MAX_CONTEXT_ID) ?? stringIn(fields, 'contextId', MAX_CONTEXT_ID);
}

/** Of what ElevenLabs calls voice settings only the speed makes a difference here. */
function readSpeed(settings: unknown): number | undefined {
  if (settings === undefined || settings === null) return undefined;
  if (!isObject(settings)) throw invalid('voice_settings', 'must be an object');
  const speed = settings['speed'] ?? undefined;
  const [least, most] = SPEEDS;
  if (speed === undefined || (typeof speed === 'number' && speed >= least && speed <= most)) return speed;
  throw invalid('voice_settings.speed', `must be a number from ${least} to ${most}`);
}

function readSchedule(fields: Fields, name: string): number[] | undefined {
  const config = fields[name] ?? undefined;
  if (config === undefined) return undefined;
  if (!isObject(config)) throw invalid(name, 'must be an object');
  const schedule = config['chunk_length_schedule'] ?? undefined;
  if (schedule === undefined) return undefined;
  const field = `${name}.chunk_length_schedule`;
  const [least, most] = CHUNK_LENGTHS;
  const isLength = (value: unknown) => typeof value === 'number' && value >= least && value <= most;
  if (Array.isArray(schedule) && schedule.length > 0 && schedule.length <= MAX_SCHEDULE) {
    if (schedule.every(isLength)) return schedule as number[];
  }
  throw invalid(field, `must be a list of 1 to ${MAX_SCHEDULE} numbers from ${least} to ${most}`);
}

function readKey(fields: Fields): string | undefined {
  const own = stringIn(fields, 'xi_api_key') ?? stringIn(fields, 'xi-api-key');
  return own ?? stringIn(fields, 'authorization')?.replace(/^Bearer\s+/i, '');
}

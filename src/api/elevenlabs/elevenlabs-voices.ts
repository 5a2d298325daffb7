// The voices and the model of this server as ElevenLabs' clients read them:
// /v1/voices, its searchable form /v2/voices, single ones, and /v1/models.
import type { FastifyInstance } from 'fastify';
import { ParleyError } from '../../errors.js';
import {
  ELEVENLABS_VOICE_SCHEMA,
  ELEVENLABS_VOICES_SCHEMA,
  VOICE_SEARCH_SCHEMA,
} from './elevenlabs-schema.js';
import type { Voice } from '../../engines/engine.js';
import type { SpeechSource } from '../speech/speech-source.js';

/** As the schema lets it through. */
interface Search {
  Querystring: { search?: string; page_size?: string; next_page_token?: string };
}

/** Names of voices of this server by the ids that ElevenLabs' clients send. */
export type ElevenLabsVoices = ReadonlyMap<string, string>;

type VoiceList = Pick<SpeechSource, 'voices' | 'spokenBy'>;

/** A voice by one of its ids. */
interface IdentifiedVoice {
  readonly id: string;
  readonly voice: Voice;
}

export function addElevenLabsVoices(scope: FastifyInstance, speech: VoiceList, ids: ElevenLabsVoices): void {
  const listed = () => identified(speech, ids);
  scope.get('/v1/voices', { schema: ELEVENLABS_VOICES_SCHEMA }, async () => ({
    voices: (await listed()).map(voiceEntry),
  }));

  scope.get<Search>('/v2/voices', { schema: VOICE_SEARCH_SCHEMA }, async ({ query }) => {
    const { search = '', page_size: size, next_page_token: token = '0' } = query;
    const found = (await listed()).filter(({ voice }) => holds(voice, search.toLowerCase()));
    const from = Number(token);
    const to = size === undefined ? found.length : from + Number(size);
    const more = to < found.length;
    return {
      voices: found.slice(from, to).map(voiceEntry),
      has_more: more,
      total_count: found.length,
      next_page_token: more ? String(to) : null,
    };
  });

  const one = { schema: ELEVENLABS_VOICE_SCHEMA };
  scope.get<{ Params: { voice_id: string } }>('/v1/voices/:voice_id', one, async ({ params }) => {
    const voices = await listed();
    const wanted = spelled(params.voice_id);
    const found =
      voices.find(({ id }) => id === params.voice_id) ??
      voices.find(({ id, voice }) => id === wanted || spelled(voice.name) === wanted);
    if (found !== undefined) return voiceEntry(found);
    const voice = standIn(
      params.voice_id,
      voices.map((one) => one.voice),
      speech,
    );
    if (voice !== undefined) return voiceEntry({ id: params.voice_id, voice });
    throw new ParleyError('NOT_FOUND', 'there is no voice of this id; /v1/voices lists those there are', {
      field: 'voice_id',
    });
  });
}

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' });

/** The model of this server in ElevenLabs' list of models. */
export async function elevenLabsModel(
  speech: Pick<SpeechSource, 'voices'>,
  id: string,
  { maxTextLength }: { readonly maxTextLength: number },
) {
  const tags = (await speech.voices()).flatMap(({ languages }) => languages);
  return {
    model_id: id,
    name: id,
    description: 'every engine and voice of this server',
    can_be_finetuned: false,
    can_do_text_to_speech: true,
    can_do_voice_conversion: false,
    can_use_style: false,
    can_use_speaker_boost: false,
    serves_pro_voices: false,
    requires_alpha_access: false,
    token_cost_factor: 1,
    max_characters_request_free_user: maxTextLength,
    max_characters_request_subscribed_user: maxTextLength,
    maximum_text_length_per_request: maxTextLength,
    languages: [...new Set(tags)].map((tag) => ({ language_id: tag, name: languageName(tag) })),
    model_rates: { character_cost_multiplier: 1 },
    concurrency_group: 'standard',
  };
}

/** The tag itself where it has no name, or the engine's own form of it is no BCP 47 tag. */
function languageName(tag: string): string {
  try {
    return LANGUAGE_NAMES.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

const CATEGORIES = { sample: 'cloned', prompt: 'generated' } as const;

/** Every voice by its own id, then those that ids of ElevenLabs stand for. */
async function identified(speech: VoiceList, ids: ElevenLabsVoices): Promise<IdentifiedVoice[]> {
  const voices = await speech.voices();
  const own = voices.map((voice) => ({ id: voice.made?.id ?? voice.name, voice }));
  const mapped = [...ids].flatMap(([id, name]) => {
    const voice = voiceNamed(name, voices) ?? standIn(name, voices, speech);
    return voice === undefined ? [] : [{ id, voice }];
  });
  return [...own.filter(({ id }) => !ids.has(id)), ...mapped];
}

function voiceNamed(name: string, voices: readonly Voice[]): Voice | undefined {
  const wanted = spelled(name);
  return voices.find((voice) => voice.made?.id === wanted || spelled(voice.name) === wanted);
}

/**
 * The voice that speaks for a name of OpenAI or Qwen, or an id of ElevenLabs; undefined for an unknown name,
 * and for a voice that was removed.
 */
function standIn(name: string, voices: readonly Voice[], speech: VoiceList): Voice | undefined {
  try {
    const { voice } = speech.spokenBy?.({ voice: name }) ?? {};
    return voices.find((listed) => listed.name === voice);
  } catch (error) {
    if (error instanceof ParleyError) return undefined;
    throw error;
  }
}

function voiceEntry({ id, voice }: IdentifiedVoice) {
  const { name, engine, languages, description, made } = voice;
  return {
    voice_id: id,
    name,
    category: made === undefined ? 'premade' : CATEGORIES[made.kind],
    description,
    labels: { language: languages[0] ?? 'und', engine },
  };
}

/** As names are compared. */
function spelled(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}

/** `words` in lower case; nothing is in every voice. */
function holds({ name, description, languages }: Voice, words: string): boolean {
  return [name, description, ...languages].some((text) => text.toLowerCase().includes(words));
}

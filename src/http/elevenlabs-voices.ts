// The voices of this server as ElevenLabs' clients read them: /v1/voices, its
// searchable form /v2/voices, and single ones.
import type { FastifyInstance } from 'fastify';
import { ParleyError } from '../errors.js';
import type { ListedVoice, SpeechSource } from './speech-routes.js';

const MAX_PAGE = 100;

interface Page {
  Querystring: { search?: unknown; page_size?: unknown; next_page_token?: unknown };
}

export function addElevenLabsVoices(scope: FastifyInstance, speech: Pick<SpeechSource, 'voices'>): void {
  scope.get('/v1/voices', async () => ({ voices: (await speech.voices()).map(voiceEntry) }));

  scope.get<Page>('/v2/voices', async ({ query }) => {
    const found = (await speech.voices()).filter((voice) => matches(voice, query.search));
    const from = wholeNumber('next_page_token', query.next_page_token, 0, found.length) ?? 0;
    const size = wholeNumber('page_size', query.page_size, 1, MAX_PAGE) ?? found.length;
    const more = from + size < found.length;
    return {
      voices: found.slice(from, from + size).map(voiceEntry),
      has_more: more,
      total_count: found.length,
      next_page_token: more ? String(from + size) : null,
    };
  });

  scope.get<{ Params: { voice_id: string } }>('/v1/voices/:voice_id', async ({ params }) => {
    const wanted = params.voice_id.trim().toLowerCase();
    const voice = (await speech.voices()).find(({ name }) => name === wanted);
    if (voice !== undefined) return voiceEntry(voice);
    throw new ParleyError('NOT_FOUND', 'there is no voice of this id; /v1/voices lists those there are', {
      field: 'voice_id',
    });
  });
}

function voiceEntry({ name, engine, languages, description }: ListedVoice) {
  return {
    voice_id: name,
    name,
    category: 'premade',
    description,
    labels: { language: languages[0] ?? 'und', engine },
  };
}

function matches({ name, description, languages }: ListedVoice, search: unknown): boolean {
  if (search === undefined) return true;
  if (typeof search !== 'string') {
    throw new ParleyError('INVALID_FIELD', '"search" may be given once', { field: 'search' });
  }
  const words = search.toLowerCase();
  return [name, description, ...languages].some((text) => text.toLowerCase().includes(words));
}

function wholeNumber(field: string, value: unknown, least: number, most: number): number | undefined {
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : NaN;
  if (number >= least && number <= most) return number;
  throw new ParleyError('INVALID_FIELD', `"${field}" must be a whole number from ${least} to ${most}`, {
    field,
  });
}

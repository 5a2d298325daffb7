// Adds the routes of OpenAI's API and our own beside them: speech, batches, voices and models,
// transcriptions, and texts as they are read.
import type { FastifyInstance } from 'fastify';
import type { ServedWeights } from '../../config/served-weights.js';
import type { Time } from '../../time.js';
import type { SpeakingParts } from '../speech/speech-answer.js';
import { ModelNames, TRANSCRIPTION_MODELS } from '../speech/speech-request.js';
import type { VoiceSource } from '../speech/speech-source.js';
import { addBatchRoute } from './batch-routes.js';
import { addSpeechRoutes } from './speech-routes.js';
import { addTableRoutes, type TableStore } from './table-routes.js';
import { addTextRoutes } from './text-routes.js';
import { addTranscriptionRoutes, type TranscriptionParts } from './transcription-routes.js';
import { addVoiceRoutes } from './voice-routes.js';

export interface OpenAiOptions {
  readonly voices: VoiceSource;
  /** Transcription; without it, its routes answer 501. */
  readonly transcription?: TranscriptionParts | undefined;
  /** Word tables of API keys; without them, their routes do not exist. */
  readonly tables?: TableStore | undefined;
  /** Published weights in use; absent: none are listed. */
  readonly weights?: ServedWeights;
}

interface OpenAiParts extends SpeakingParts, OpenAiOptions {
  readonly voices: VoiceSource;
  /** True if requests that name another model are refused. */
  readonly strictModels: boolean;
  readonly time: Time;
}

export function addOpenAiRoutes(app: FastifyInstance, parts: OpenAiParts): void {
  const { transcription, strictModels, limits, tables, time, log } = parts;
  const recogniser = transcription?.transcriber.recogniser;
  addSpeechRoutes(app, { ...parts, startedAt: Math.floor(Date.now() / 1000), recogniser });
  addBatchRoute(app, parts);
  addTextRoutes(app, limits);
  if (tables !== undefined) void app.register(async (scope) => addTableRoutes(scope, tables));
  void app.register(async (scope) => addVoiceRoutes(scope, parts));
  const models = new ModelNames(recogniser?.name ?? 'none', strictModels, TRANSCRIPTION_MODELS);
  void app.register(async (scope) => addTranscriptionRoutes(scope, { transcription, models, time, log }));
}

// How a text would be spoken, for those who wonder why it sounds as it does.
import type { FastifyInstance } from 'fastify';
import { tagOfStated } from '../../speaking/language-plan.js';
import {
  readLongText,
  readText,
  requestLexicon,
  type ReadText,
  type ReadingLimits,
} from '../../speaking/text-reading.js';
import { SLICE, TextTurns } from '../../speaking/text-source.js';
import type { SpeechFieldLimits } from './speech-fields-schema.js';
import { normalizeSchema } from './text-schema.js';

interface NormalizeBody {
  readonly text: string;
  readonly language?: string;
  readonly ssml?: boolean;
  readonly lexicon?: readonly object[];
}

export function addTextRoutes(app: FastifyInstance, limits: SpeechFieldLimits & ReadingLimits): void {
  const options = { schema: normalizeSchema(limits) };
  const turns = new TextTurns();
  app.post<{ Body: NormalizeBody }>('/v1/text/normalize', options, async ({ body, client }) => {
    const { text, ssml, lexicon } = body;
    const language = body.language === undefined ? undefined : tagOfStated(body.language);
    const request = {
      text,
      format: ssml === undefined ? ('auto' as const) : ssml ? ('ssml' as const) : ('text' as const),
      ...(language === undefined ? {} : { language }),
      ...(lexicon === undefined ? {} : { lexicon: requestLexicon(lexicon) }),
    };
    if (text.length <= SLICE) return answerOf(readText(request, limits));
    const read = await turns.read(client, text.length, (turn) => readLongText(request, limits, turn));
    return answerOf(read);
  });
}

function answerOf({ sentences, endPauseMs, unheeded }: ReadText): object {
  return {
    object: 'text.normalization',
    sentences: sentences.map((one) => {
      if (one.kind === 'bleep') return { bleep_ms: one.ms, pause_before_ms: one.pauseBeforeMs };
      const { written, spoken, language, place, rules, manner } = one;
      return {
        text: written,
        spoken,
        language,
        ...place,
        rules: rules.map(({ place: at, ...rule }) => ({ ...rule, ...at })),
        pause_before_ms: one.pauseBeforeMs,
        voice: manner?.voice,
        rate: manner === undefined || manner.rate === 1 ? undefined : manner.rate,
        gain: manner === undefined || manner.gain === 1 ? undefined : manner.gain,
        marks_before: one.marksBefore,
        marks_after: one.marksAfter,
      };
    }),
    pause_after_ms: endPauseMs,
    unheeded,
  };
}

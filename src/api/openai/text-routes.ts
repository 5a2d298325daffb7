// POST /v1/text/normalize: shows how a text would be spoken, and by which rules, without speaking it.
import type { FastifyInstance } from 'fastify';
import { tagOfStated } from '../../speaking/language-plan.js';
import {
  type ReadingLimits,
  readingOf,
  readText,
  type ReadText,
  requestLexicon,
} from '../../speaking/text-reading.js';
import { stated } from '../../stated.js';
import { inTurns, SLICE, TextTurns } from '../../speaking/text-source.js';
import {
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { LANGUAGE_FIELD, LEXICON_FIELD, type SpeechFieldLimits, textField } from '../speech/speech-schema.js';

const RULE = object({
  rule: { ...STRING, description: 'such as `currency`, `date`, `lexicon` or `say-as`' },
  written: STRING,
  spoken: STRING,
  start: { ...INTEGER, description: 'in the text of the request, in UTF-16 units' },
  end: INTEGER,
});

const SENTENCE = object(
  {
    text: { ...STRING, description: 'as it is written, in one line and without invisible characters' },
    spoken: STRING,
    language: STRING,
    start: INTEGER,
    end: INTEGER,
    rules: listOf(RULE),
    pause_before_ms: { ...NUMBER, description: 'the usual where absent' },
    voice: STRING,
    rate: { ...NUMBER, description: "times the voice's own pace" },
    gain: { ...NUMBER, description: "times the voice's own loudness" },
    marks_before: listOf(STRING),
    marks_after: listOf(STRING),
    bleep_ms: { ...NUMBER, description: 'a tone of this length, and no text' },
  },
  'text spoken language start end rules pause_before_ms voice rate gain marks_before marks_after bleep_ms'.split(
    ' ',
  ),
);

const ANSWER = object({
  object: { type: 'string', enum: ['text.normalization'] },
  sentences: listOf(SENTENCE),
  pause_after_ms: NUMBER,
  unheeded: {
    ...listOf(object({ what: STRING, line: INTEGER, column: INTEGER })),
    description: 'markup that has no effect',
  },
});

function body(limits: SpeechFieldLimits): JsonSchema {
  return {
    type: 'object',
    required: ['text'],
    examples: [{ text: 'It costs $3.50 on 2024-01-15.', language: 'en' }],
    properties: {
      text: textField(limits),
      language: LANGUAGE_FIELD,
      ssml: {
        type: 'boolean',
        description: 'whether the text is SSML; where absent it is if it begins with `<speak`',
      },
      lexicon: LEXICON_FIELD,
    },
  };
}

function normalizeSchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Show how a text would be spoken, and by which rules',
    tags: [TAGS.speech],
    body: body(limits),
    response: { 200: jsonAnswer('its sentences in words', ANSWER) },
  };
}

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
    const { text, ssml, language, lexicon } = body;
    const request = {
      text,
      client,
      format: ssml === undefined ? ('auto' as const) : ssml ? ('ssml' as const) : ('text' as const),
      ...stated({
        language: language === undefined ? undefined : tagOfStated(language),
        lexicon: lexicon && requestLexicon(lexicon),
      }),
    };
    if (text.length <= SLICE) return answerOf(readText(request, limits));
    const read = await turns.read(client, text.length, (turn) => inTurns(readingOf(request, limits), turn));
    return answerOf(read);
  });
}

function answerOf({ sentences, endPauseMs, unheeded }: ReadText): object {
  return {
    object: 'text.normalization',
    sentences: sentences.map((one) => {
      if (one.kind === 'bleep') return { bleep_ms: one.ms, pause_before_ms: one.pauseBeforeMs };
      const { written, spoken, language, place, rules, style } = one;
      return {
        text: written,
        spoken,
        language,
        ...place,
        rules: rules.map(({ place: at, ...rule }) => ({ ...rule, ...at })),
        pause_before_ms: one.pauseBeforeMs,
        voice: style?.voice,
        rate: style === undefined || style.rate === 1 ? undefined : style.rate,
        gain: style === undefined || style.gain === 1 ? undefined : style.gain,
        marks_before: one.marksBefore,
        marks_after: one.marksAfter,
      };
    }),
    pause_after_ms: endPauseMs,
    unheeded,
  };
}

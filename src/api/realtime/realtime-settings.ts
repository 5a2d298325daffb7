// Reads and writes the session object of OpenAI's Realtime API: what holds for a conversation.
//
// https://platform.openai.com/docs/api-reference/realtime-client-events/session/update
import type { TalkAgent } from '../../agents/agent-talk.js';
import type { TalkSettings } from '../../agents/talk-settings.js';
import type { ChatTool } from '../../agents/chat-model.js';
import type { SoundFormats } from '../../call/sound-calls.js';
import { SPEEDS } from '../../audio/time-stretch.js';
import { HEARING_BOUNDS } from '../../config/hearing-config.js';
import { fixedSilence } from '../../hearing/hearing-settings.js';
import { CONTEXT_LIMITS } from '../../transcribing/transcriber.js';
import {
  choiceIn,
  type Fields,
  flagIn,
  invalid,
  numberIn,
  readLanguage,
  stringIn,
  wholeIn,
} from '../http/message-fields.js';
import { listIn, objectIn } from './realtime-fields.js';
import { formatObject, USUAL_FORMATS } from './realtime-sound.js';

/** How the ends of turns are found; see OpenAI's `turn_detection`. */
type TurnDetection =
  | { readonly type: 'server_vad'; readonly silenceMs: number }
  | { readonly type: 'semantic_vad'; readonly eagerness: (typeof EAGERNESS)[number] };

export interface RealtimeSettings {
  readonly talk: TalkSettings;
  /** Null: the client ends the turns. */
  readonly turns: TurnDetection | null;
  /** False: the model may call no function of the client. */
  readonly mayCall: boolean;
  readonly tools: readonly ChatTool[];
  /** The client's names of the recognition; they are told back. */
  readonly transcription: {
    readonly model?: string;
    readonly language?: string;
    readonly prompt?: string;
    readonly smart_format?: boolean;
  };
}

/** The abilities of the session. */
export interface SessionAbilities {
  readonly agent: TalkAgent | undefined;
  readonly isCallerRecognised: boolean;
  /** Throws VOICE_UNKNOWN and LANGUAGE_UNAVAILABLE. */
  readonly checkVoice: (voice: string | undefined, language: string | undefined) => void;
}

const EAGERNESS = ['low', 'medium', 'high', 'auto'] as const;
const SILENCE_MS = 500; // OpenAI's silence_duration_ms
const MOST_PROMPT = 60_000; // characters
const MOST_NAME = 200;
const MOST_TOOLS = 128;
const TOOL_NAME = /^[\w-]{1,64}$/;
const IDLE_MS = [1000, HEARING_BOUNDS.noInputMs[1]] as const;
const MODALITIES = ['audio', 'text'] as const;

/** Fields of the beta, with their present places. */
const BETA: Readonly<Record<string, string>> = {
  voice: 'audio.output.voice',
  speed: 'audio.output.speed',
  modalities: 'output_modalities',
  turn_detection: 'audio.input.turn_detection',
  input_audio_transcription: 'audio.input.transcription',
};

/** The settings of a session that states none: those of its agent, if there is one. */
export function usualSettings({ agent }: SessionAbilities): RealtimeSettings {
  const { voice, language, hints, interruptible } = agent?.config ?? {};
  const isInterruptible = agent === undefined || interruptible === 'any' || interruptible === 'speech';
  return {
    talk: {
      prompt: undefined,
      voice,
      language,
      pace: 1,
      isSpoken: true,
      answersTurns: agent !== undefined,
      isInterruptible,
      idleMs: undefined,
      hearing: { ...fixedSilence(SILENCE_MS), endedByHand: false },
      expected: { language, context: hints },
      tools: [],
    },
    turns: { type: 'server_vad', silenceMs: SILENCE_MS },
    mayCall: true,
    tools: [],
    transcription: {},
  };
}

/** The settings after an update. Fields that it does not name stay as they are. Throws INVALID_FIELD. */
export function readSettings(
  session: Fields,
  before: RealtimeSettings,
  abilities: SessionAbilities,
): RealtimeSettings {
  if (session['type'] !== undefined && session['type'] !== 'realtime')
    throw invalid('session.type', 'must be "realtime"; transcription has a WebSocket of its own');
  const old = Object.keys(BETA).find((name) => name in session);
  if (old !== undefined) throw invalid(`session.${old}`, `is a field of the beta: use ${BETA[old]}`);
  const audio = objectIn(session, 'audio') ?? {};
  const [input, output] = [objectIn(audio, 'input') ?? {}, objectIn(audio, 'output') ?? {}];
  const tools = 'tools' in session ? readTools(session) : before.tools;
  const mayCall = 'tool_choice' in session ? readToolChoice(session) : before.mayCall;
  const withVoice = readOutput(output, before.talk, abilities);
  const settings = readTranscription(input, { ...before, talk: withVoice, tools, mayCall });
  const { turns, talk } = readTurns(input, settings, abilities);
  const prompt = 'instructions' in session ? readPrompt(session) : talk.prompt;
  const isSpoken = readModalities(session) ?? talk.isSpoken;
  return { ...settings, turns, talk: { ...talk, prompt, isSpoken, tools: mayCall ? tools : [] } };
}

/** Undefined where the agent's own prompt is meant. */
export function readPrompt(fields: Fields): string | undefined {
  return stringIn(fields, 'instructions', MOST_PROMPT)?.trim() || undefined;
}

/** True if it is spoken; undefined if nothing is stated. */
export function readModalities(fields: Fields): boolean | undefined {
  const modalities = listIn(fields, 'output_modalities', MODALITIES.length);
  if (modalities === undefined) return undefined;
  const [chosen] = modalities;
  const isKnown = modalities.length === 1 && MODALITIES.some((one) => one === chosen);
  if (!isKnown) throw invalid('output_modalities', 'must be ["audio"] or ["text"]');
  return chosen === 'audio';
}

/** A name, or OpenAI's form for custom voices: {"id": name}. */
export function readVoice(output: Fields): string | undefined {
  const { voice } = output;
  const inner = typeof voice === 'object' && voice !== null && 'id' in voice ? voice.id : voice;
  if (inner === undefined || inner === null) return undefined;
  if (typeof inner === 'string' && inner !== '' && inner.length <= MOST_NAME) return inner;
  throw invalid('voice', `must be a name of 1 to ${MOST_NAME} characters`);
}

export function readTools(fields: Fields): readonly ChatTool[] {
  return (listIn(fields, 'tools', MOST_TOOLS) ?? []).map((given) => {
    const tool = objectIn({ tool: given }, 'tool') ?? {};
    if (tool['type'] !== 'function') throw invalid('tools.type', 'must be "function"');
    const name = stringIn(tool, 'name') ?? '';
    if (!TOOL_NAME.test(name)) throw invalid('tools.name', 'must be 1 to 64 letters, digits, _ and -');
    const parameters = objectIn(tool, 'parameters') ?? { type: 'object', properties: {} };
    return { name, description: stringIn(tool, 'description') ?? '', parameters };
  });
}

/** False if the model may call no function of the client. */
export function readToolChoice(fields: Fields): boolean {
  return choiceIn(fields, 'tool_choice', ['auto', 'none']) !== 'none';
}

function readOutput(output: Fields, before: TalkSettings, { checkVoice }: SessionAbilities): TalkSettings {
  const voice = readVoice(output) ?? before.voice;
  const language = 'language' in output ? readLanguage(output) : before.language;
  if (voice !== before.voice || language !== before.language) checkVoice(voice, language);
  return { ...before, voice, language, pace: numberIn(output, 'speed', ...SPEEDS) ?? before.pace };
}

function readTranscription(input: Fields, before: RealtimeSettings): RealtimeSettings {
  const given = objectIn(input, 'transcription');
  if (given === undefined) return before;
  const model = stringIn(given, 'model', MOST_NAME);
  const language = readLanguage(given);
  const prompt = stringIn(given, 'prompt', CONTEXT_LIMITS.prompt);
  const smartFormat = flagIn(given, 'smart_format');
  const transcription = {
    ...(smartFormat === undefined ? {} : { smart_format: smartFormat }),
    ...(model === undefined ? {} : { model }),
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
  };
  const { talk } = before;
  const expected = {
    language: language ?? talk.expected.language,
    context: prompt ?? talk.expected.context,
    ...(smartFormat === undefined ? {} : { smartFormat }),
  };
  return { ...before, transcription, talk: { ...talk, expected } };
}

/** `threshold` and `prefix_padding_ms` belong to another detector. */
function readTurns(
  input: Fields,
  { talk, turns: before }: RealtimeSettings,
  { agent }: SessionAbilities,
): Pick<RealtimeSettings, 'talk' | 'turns'> {
  if (!('turn_detection' in input)) return { talk, turns: before };
  const fields = objectIn(input, 'turn_detection');
  if (fields === undefined)
    return {
      turns: null,
      talk: { ...talk, idleMs: undefined, hearing: { ...talk.hearing, endedByHand: true } },
    };
  const type = choiceIn(fields, 'type', ['server_vad', 'semantic_vad']) ?? before?.type ?? 'server_vad';
  const silenceMs = wholeIn(fields, 'silence_duration_ms', ...HEARING_BOUNDS.silenceMs) ?? SILENCE_MS;
  const eagerness = choiceIn(fields, 'eagerness', EAGERNESS) ?? 'auto';
  const turns: TurnDetection = type === 'server_vad' ? { type, silenceMs } : { type, eagerness };
  const hearing = {
    ...(type === 'server_vad' ? fixedSilence(silenceMs) : SEMANTIC_SILENCE[eagerness]),
    endedByHand: false,
  };
  const answersTurns = flagIn(fields, 'create_response') ?? talk.answersTurns;
  if (answersTurns && agent === undefined)
    throw invalid(
      'turn_detection.create_response',
      'must be false: no agent talks in this call, so nobody would answer',
    );
  return {
    turns,
    talk: {
      ...talk,
      answersTurns,
      isInterruptible: flagIn(fields, 'interrupt_response') ?? talk.isInterruptible,
      idleMs: 'idle_timeout_ms' in fields ? wholeIn(fields, 'idle_timeout_ms', ...IDLE_MS) : talk.idleMs,
      hearing,
    },
  };
}

/** Silence that ends a turn: usually, behind a complete sentence, and at most, as with OpenAI. */
const SEMANTIC_SILENCE: Readonly<Record<(typeof EAGERNESS)[number], ReturnType<typeof fixedSilence>>> = {
  low: { silenceMs: 1200, minSilenceMs: 600, maxSilenceMs: 8000 },
  medium: { silenceMs: 700, minSilenceMs: 300, maxSilenceMs: 4000 },
  auto: { silenceMs: 700, minSilenceMs: 300, maxSilenceMs: 4000 },
  high: { silenceMs: 400, minSilenceMs: 300, maxSilenceMs: 2000 },
};

/**
 * The session in OpenAI's words. What this server cannot do is null. In a WebRTC call SDP decides the formats
 * and the usual ones are told.
 */
export function sessionObject(
  id: string,
  { talk, turns, tools, mayCall, transcription }: RealtimeSettings,
  { agent, isCallerRecognised }: SessionAbilities,
  { sends, receives }: SoundFormats = USUAL_FORMATS,
): object {
  const { model = null, language = null, prompt = null, smart_format } = transcription;
  const format = smart_format === undefined ? {} : { smart_format };
  const { answersTurns, isInterruptible, idleMs = null } = talk;
  const found =
    turns?.type === 'server_vad'
      ? { type: turns.type, silence_duration_ms: turns.silenceMs, idle_timeout_ms: idleMs }
      : turns;
  return {
    id,
    object: 'realtime.session',
    type: 'realtime',
    model: agent?.config.name ?? 'parley',
    output_modalities: [talk.isSpoken ? 'audio' : 'text'],
    instructions: talk.prompt ?? '',
    tools: tools.map((tool) => ({ type: 'function', ...tool })),
    tool_choice: mayCall ? 'auto' : 'none',
    max_output_tokens: 'inf',
    audio: {
      input: {
        format: formatObject(receives),
        transcription: isCallerRecognised ? { model, language, prompt, ...format } : null,
        noise_reduction: null,
        turn_detection:
          isCallerRecognised && found !== null
            ? { ...found, create_response: answersTurns, interrupt_response: isInterruptible }
            : null,
      },
      output: {
        format: formatObject(sends),
        voice: talk.voice ?? null,
        language: talk.language ?? null,
        speed: talk.pace,
      },
    },
  };
}

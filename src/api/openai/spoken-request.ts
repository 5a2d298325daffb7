// From a wish to a request that the speech service answers: the voice made that
// comes with it, and the manner cut down to what the engine heeds.
import { promptVoice } from '../../speaking/voice-plan.js';
import { unheededMarkup } from '../../speaking/text-reading.js';
import { ParleyError } from '../../errors.js';
import type { FieldNames } from './field-names.js';
import { heeded } from './manner-fields.js';
import type { SpeechWish } from './speech-request.js';
import type { EngineAbilities, SpeechSource, SpokenRequest, VoiceReference } from './speech-source.js';

export interface PreparedSpeech {
  readonly request: SpokenRequest;
  /** Fields of the wish that its engine cannot heed. */
  readonly ignored: readonly string[];
}

/** What there is to know without waiting. Throws what can be known of a voice and language. */
export function prepared(
  speech: SpeechSource,
  wish: SpeechWish,
  client: string,
  reference?: VoiceReference,
): PreparedSpeech {
  const { text, format, sampleRate, speed, voice, language, cache, trimSilence, normalize, manner } = wish;
  const { markup, lexicon } = wish;
  const plain: SpokenRequest = {
    text,
    container: format.container,
    sampleRate,
    speed,
    client,
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
    ...(cache === undefined ? {} : { cache }),
    ...(trimSilence === undefined ? {} : { trimSilence }),
    ...(normalize === undefined ? {} : { normalize }),
    ...(markup === undefined ? {} : { markup }),
    ...(lexicon === undefined ? {} : { lexicon }),
    ...(reference === undefined ? {} : { reference }),
  };
  // Whose wishes are plain need not be told what the engine heeds.
  const unheeded = markup === true ? [...manner.unheeded, ...unheededIn(text)] : manner.unheeded;
  if (manner.stated.length === 0 && reference === undefined) return { request: plain, ignored: unheeded };
  const abilities = speech.abilities(plain);
  if (reference !== undefined) refuseIncapable(abilities, reference);
  const { options, ignored } = heeded({ ...manner, unheeded }, abilities);
  return { request: options === undefined ? plain : { ...plain, options }, ignored };
}

/** Such as `SSML <emphasis>`. Throws for what is no SSML. */
function unheededIn(text: string): string[] {
  return unheededMarkup(text).map((what) => `SSML ${what}`);
}

/** The same with the voice that comes with the wish. Rejects with whatever is wrong with it. */
export async function preparedWithVoice(
  speech: SpeechSource,
  wish: SpeechWish,
  client: string,
  signal: AbortSignal,
): Promise<PreparedSpeech> {
  const { ownVoice, language } = wish;
  if (ownVoice === undefined) return prepared(speech, wish, client);
  const reference =
    ownVoice.kind === 'prompt'
      ? promptVoice(ownVoice.prompt)
      : await speech.reference(
          { ...ownVoice.sample, ...(language === undefined ? {} : { language }) },
          signal,
        );
  return prepared(speech, wish, client, reference);
}

/** For a header; undefined where all was heeded. */
export function ignoredNames({ ignored }: PreparedSpeech, names: FieldNames = {}): string | undefined {
  return ignored.length === 0 ? undefined : ignored.map((field) => names[field] ?? field).join(', ');
}

function refuseIncapable({ engine, clone, design }: EngineAbilities, { kind }: VoiceReference): void {
  if (kind === 'sample' ? clone : design) return;
  const what =
    kind === 'sample'
      ? 'speak with the voice of a sample ("ref_audio")'
      : 'make a voice from a description ("task_type" "VoiceDesign")';
  const field = kind === 'sample' ? 'ref_audio' : 'task_type';
  throw new ParleyError('CAPABILITY_MISSING', `the engine ${engine} cannot ${what}`, { field });
}

// Opens what transcribes sound: the recogniser and the aligner of the configuration, decoders, the queue of
// files, and the translator.
import type { Config } from '../config/config.js';
import { unheardLanguages } from '../config/moonshine-config.js';
import { EARS_COMMAND } from '../config/recognition-config.js';
import { openRecognisers, type RecogniserGroups, type Recognisers } from '../engines/recogniser-setup.js';
import { Scheduler } from '../engines/scheduler.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import { findFfmpeg } from './ffmpeg.js';
import { LiveTranscriber } from './live-transcriber.js';
import type { VoiceActivity } from './live-transcription.js';
import { SoundDecoders } from './sound-decoders.js';
import { SpeechSearch } from './speech-search.js';
import { Transcriber } from './transcriber.js';
import { Translator } from './translator.js';

/** Transcription of files. */
interface FileTranscription {
  readonly transcriber: Transcriber;
  /** Undefined if no translation server is configured. */
  readonly translator: Translator | undefined;
  /** Bytes of one file. */
  readonly maxBytes: number;
  /** Requests that do not state it get texts with figures. */
  readonly smartFormat: boolean;
  /** Sounds at once, with those that wait. */
  readonly maxRequests: number;
}

/** Undefined parts need a recogniser, and none is configured. */
interface TranscriptionServices {
  readonly transcription: FileTranscription | undefined;
  readonly live: LiveTranscriber | undefined;
}

export interface Transcribing {
  readonly recognisers: Recognisers;
  /** How the speech of callers becomes text. */
  readonly callers: Pick<Recognisers, 'recogniser'> & { readonly smartFormat: boolean };
  /** For /health. */
  health(): {
    readonly recognition: Recognisers['health'];
    /** BCP 47 primary tags of languages with a voice and without a recogniser. */
    readonly unheardLanguages: readonly string[];
    /** Fetches a recogniser; undefined if there is one. */
    readonly earsCommand: string | undefined;
  };
  /** For the metrics; undefined if no recogniser is configured. */
  readonly figures:
    { readonly active: number; readonly waiting: number; readonly sessions: number } | undefined;
  /** Settings that clients may use. `activity` finds the turns of live sound, and the speech of files. */
  serve(activity: VoiceActivity): TranscriptionServices;
  close(): Promise<void>;
}

/** Rejects as `openRecognisers` does. `given`: recognisers in place of those of the configuration. */
export async function openTranscribing(
  config: RecogniserGroups & Pick<Config, 'hearing' | 'pocket'>,
  log: Log,
  time: Time,
  given?: Recognisers,
): Promise<Transcribing> {
  const recognisers = given ?? (await openRecognisers(config, log));
  const { recogniser, aligner } = recognisers;
  const { files, smartFormat, translation: server } = config.recognition;
  const callers = { recogniser, smartFormat };
  const unheard = unheardLanguages(config.pocket.models, config.recognition.moonshine);
  const earsCommand = recogniser === undefined ? EARS_COMMAND : undefined;
  const health = () => ({ recognition: recognisers.health, unheardLanguages: unheard, earsCommand });
  if (recogniser === undefined) {
    const serve = () => ({ transcription: undefined, live: undefined });
    return { recognisers, callers, health, figures: undefined, serve, close: () => recognisers.close() };
  }
  const { maxQueueDepth: maxWaiting, requestTimeoutMs } = config.engines;
  const ffmpeg = findFfmpeg();
  const decoders = new SoundDecoders({ time, ffmpeg });
  const queue = new Scheduler({
    engine: recogniser.name,
    unit: 'sound',
    concurrency: files.maxAtOnce,
    maxWaiting,
    maxWaitMs: requestTimeoutMs,
    time,
  });
  const transcriberWith = (activity: VoiceActivity) =>
    new Transcriber({
      recogniser,
      aligner,
      decoders,
      queue,
      now: () => time.now(),
      maxSeconds: files.maxSeconds,
      speech: new SpeechSearch({ activity, settings, time }),
      onUnaligned: (err) => log.warn({ engine: aligner?.name, code: err.code, err }, 'words not timed'),
      onSpeechUnknown: (err) => log.warn({ code: err.code, err }, 'words timed without pauses'),
    });
  const translator = server && new Translator({ server, timeoutMs: requestTimeoutMs, time });
  log.info({ sounds: decoders.kinds, ffmpeg: ffmpeg?.version }, 'transcription ready');
  const { maxBytes, maxAtOnce } = files;
  const { settings } = config.hearing;
  const limits = { maxBytes, maxRequests: maxAtOnce + maxWaiting };
  return {
    recognisers,
    callers,
    health,
    get figures() {
      const { active, waiting } = queue;
      return { active, waiting, sessions: recogniser.sessions };
    },
    serve: (activity) => ({
      transcription: { smartFormat, transcriber: transcriberWith(activity), translator, ...limits },
      live: new LiveTranscriber({ recogniser, activity, settings, time, smartFormat }),
    }),
    close: async () => {
      queue.close();
      await Promise.all([decoders.close(), recognisers.close()]);
    },
  };
}

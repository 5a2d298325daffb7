// The counters of the HTTP server: requests, speech, transcriptions and WebSockets. src/observe holds them.
import type { TranscriptionEnd } from '../../transcribing/transcriber.js';

export interface RequestAnswered {
  readonly method: string;
  /** The pattern of the route, never the URL of the request: the number of label values stays bounded. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface SpeechAnswered {
  readonly route: string;
  /** Format name of the request; undefined if the request was refused before its format was known. */
  readonly format: string | undefined;
  readonly status: number;
  readonly seconds: number;
  /** Engine time; undefined if no engine worked for the request. */
  readonly inferSeconds: number | undefined;
  /**
   * Time of engines and encoders, with the voice and language of the engine; undefined if no engine worked.
   */
  readonly synthesis?:
    { readonly voice: string; readonly language: string; readonly seconds: number } | undefined;
}

export interface TranscriptionAnswered {
  readonly route: string;
  /** Format of the request; undefined if the request was refused before its format was known. */
  readonly format: string | undefined;
  readonly status: number;
  /** Undefined if the sound was not transcribed to its end. */
  readonly end: TranscriptionEnd | undefined;
}

/** Label values come from closed sets: the names of dialects, and the reasons of an end. */
export interface SocketMetrics {
  opened(dialect: string): void;
  closed(dialect: string, end: string): void;
  message(dialect: string, direction: 'in' | 'out'): void;
  refused(status: number): void;
}

export interface HttpMetrics {
  readonly sockets: SocketMetrics;
  readonly recognition: {
    answered(request: TranscriptionAnswered): void;
    /** `code` is the error code that the client received. */
    failed(code: string): void;
    /** Milliseconds from the end of a live turn to its final text. */
    finalText(ms: number): void;
  };
  /** The content type of `exposition()`. */
  readonly contentType: string;
  /** All metrics of the server in Prometheus' text format. */
  exposition(): Promise<string>;
  requestAnswered(request: RequestAnswered): void;
  speechAnswered(request: SpeechAnswered): void;
  /** `code` is the error code that the client received. */
  speechFailed(code: string): void;
  /** Milliseconds from the arrival of a text to its first sound leaving. */
  firstAudio(ms: number, protocol: string): void;
}

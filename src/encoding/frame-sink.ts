// Where a line's frames go: the playout of a call, as payloads and marks, or a
// ring of bytes, as a container.
//
// A sink holds what it could not hand over and offers it again at `flush`; the
// pump gives it nothing new before. That is all the flow control there is.
import type { ErrorCode } from '../errors.js';

export type Flushed = 'taken' | 'full' | 'gone';

/** What a sink of payloads can do besides, for segments that share nothing with their neighbours. */
export interface PayloadSink {
  /** Of the frame put last; valid until the next. */
  readonly payload: Uint8Array | undefined;
  /** The next frame that is put depends on nothing before it. */
  restart(): void;
  putSilence(): void;
  /** A frame that was encoded before. */
  putPayload(payload: Uint8Array): void;
}

export interface FrameSink {
  /** Absent where a frame is no payload of its own. */
  readonly payloads?: PayloadSink;
  /** Hz of the samples it takes. */
  readonly sampleRate: number;
  readonly frameSamples: number;
  /** A last frame that is not full is padded with silence; otherwise it is put as short as it is. */
  readonly wholeFrames: boolean;
  /** A segment that fails ends the line: a hole in a file could not be told later. */
  readonly failsWhole: boolean;
  /** Where nobody takes anything any more, somebody else will: whoever moves the sink wakes the line. */
  readonly movable?: boolean;
  put(frame: Float32Array, count: number): void;
  mark(mark: number): void;
  /** It keeps frames to itself that the reader will get with the next ones. */
  readonly holding: boolean;
  /** What comes next is not known yet; an empty sink is nobody's fault until then. */
  rest(): void;
  /** Everything that it was given has left. */
  isDry(): boolean;
  /** Nothing follows. */
  finish(): void;
  /** Hands over what waits. `gone`: nobody will ever take it. */
  flush(): Flushed;
  /** Calls back once when flushing is worth another try. */
  onRoom(callback: () => void): void;
  /** The line ends before its finish was flushed; the reader is told the code where it can be. */
  fail(code: ErrorCode): void;
  release(callback: () => void): void;
}

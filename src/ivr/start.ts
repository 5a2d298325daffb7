// Starts what runs beside the verbs that follow: a stream of the call's sound to a bot, a recording of the
// call, or a transcript of what is said. One that cannot begin is a warning.
import type { Call } from '../call/call.js';
import type { HandledCall } from '../call/call-handler.js';
import { asParleyError, attempt, ParleyError } from '../errors.js';
import { warningOf } from './door.js';
import type { Outcome, Scene } from './scene.js';
import type { Fork, RecordingFork, RecordingNotice, Start, StreamFork, TranscriptFork } from './verbs.js';

const WORK = { work: 'program' };

export async function start({ forks }: Start, scene: Scene): Promise<Outcome> {
  const handled = await scene.answered();
  for (const fork of forks) {
    try {
      scene.forks.check(fork.kind, nameOf(fork));
      await begin(fork, handled, scene);
    } catch (error) {
      if (scene.signal.aborted) return 'next';
      scene.warn(warningOf(asParleyError(error, 'CALL_STATE')));
    }
  }
  return 'next';
}

function nameOf(fork: Fork): string | undefined {
  return fork.kind === 'recording' ? undefined : fork.name;
}

async function begin(fork: Fork, handled: HandledCall, scene: Scene): Promise<void> {
  switch (fork.kind) {
    case 'stream':
      return stream(fork, handled, scene);
    case 'recording':
      return recording(fork, handled.call, scene);
    case 'transcript':
      return transcript(fork, handled.call, scene);
  }
}

function stream(fork: StreamFork, handled: HandledCall, scene: Scene): void {
  const { talks, forks, door } = scene;
  if (talks === undefined) throw new ParleyError('CALL_STATE', 'this server streams no calls of programs');
  const { name, callback, fields } = fork;
  let ended = (): void => undefined;
  const stop = talks.stream(fields, handled, (told) => {
    if (told.event === 'stream-error') scene.warn({ message: `the stream has failed: ${told.error ?? ''}` });
    if (told.event !== 'stream-started') ended();
    if (callback !== undefined) door.tell(callback, { of: 'stream', name, ...told });
  });
  ended = forks.add('stream', name, stop);
}

/** Both sides of the call, in two channels: that of gathers which are secret is paused. */
async function recording({ callback }: RecordingFork, call: Call, scene: Scene): Promise<void> {
  const { door, forks } = scene;
  const view = await call.recording.start({ format: 'wav' });
  const tell = (status: RecordingNotice['status'], durationMs: number) => {
    if (callback?.events.includes(status) !== true) return;
    const about = { recording: view.name, durationMs, startedMs: view.startedMs };
    const how = { channels: 2, source: 'start', track: 'both' } as const;
    door.tell(callback.target, { of: 'recording', status, ...about, ...how });
  };
  tell('in-progress', 0);
  const stop = () => {
    // It ends with its call, too. A failure is an event of the call.
    if (!call.isClosing()) void call.recording.stop().catch(() => undefined);
  };
  const ended = forks.add('recording', undefined, stop);
  const unobserve = call.observe((event) => {
    if (event.type !== 'recording.stopped' && event.type !== 'recording.failed') return;
    if (event.name !== view.name) return;
    unobserve();
    ended();
    tell(event.type === 'recording.stopped' ? 'completed' : 'absent', event.durationMs);
  });
}

function transcript(fork: TranscriptFork, call: Call, scene: Scene): void {
  const { callerTexts, door, forks } = scene;
  const { name, callback, language, hints, isPartial, sides } = fork;
  if (!callerTexts.isCallerRecognised && sides.caller !== undefined)
    throw new ParleyError('CALL_STATE', 'this server has no recogniser: the caller is not transcribed');
  const undo: (() => void)[] = [];
  let number = 0;
  const tell = (event: 'started' | 'stopped', text?: undefined): void =>
    door.tell(callback, { of: 'transcript', event, name, number: number++, text });
  const told = (side: 'caller' | 'server', text: string, isFinal: boolean, tag: string | undefined) => {
    if (text.trim() === '') return;
    const label = sides[side];
    const about = { side, label, text: text.trim(), isFinal, language: tag ?? language };
    door.tell(callback, { of: 'transcript', event: 'content', name, number: number++, ...about });
  };
  if (sides.caller !== undefined) {
    undo.push(call.hear());
    const context = hints.length === 0 ? undefined : hints.join(', ');
    const listener = {
      text: (one: {
        readonly text: string;
        readonly language: string | undefined;
        readonly isFinal: boolean;
      }) => void (isPartial && !one.isFinal && told('caller', one.text, false, one.language)),
      said: (turn: { readonly text: string; readonly language: string | undefined }) =>
        told('caller', turn.text, true, turn.language),
    };
    undo.push(callerTexts.follow(call, listener, { language, context }));
  }
  if (sides.server !== undefined)
    undo.push(
      call.observe(
        (event) => void (event.type === 'sentence.spoken' && told('server', event.text, true, undefined)),
      ),
    );
  tell('started');
  forks.add('transcript', name, () => {
    for (const one of undo) attempt(WORK, one);
    tell('stopped');
  });
}

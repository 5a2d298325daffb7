// The leg that programs are performed over: its answer, the keys and texts of its far end, the door that
// writes its programs, and what each verb does with it.
//
//   ProgramRun ──▶ the leg of a call, from its INVITE to its end
//   within ──────▶ a program within a verb, over the same leg: what a caller in a queue hears
//   onLeg ───────▶ a program over the leg of another call, before it is joined: what an agent hears
import type { HandledCall } from '../call/call-handler.js';
import type { CallEvent } from '../call/call-events.js';
import type { ProgramCaller } from '../call/call-programs.js';
import { ParleyError, tellDefect } from '../errors.js';
import type { Log } from '../log.js';
import { stated } from '../stated.js';
import type { Time } from '../time.js';
import { answeredCaller } from './answered-caller.js';
import { dial } from './dial.js';
import { type Door, type OpenDoor, ProgramError, type Warning, warningOf } from './door.js';
import { conference } from './conference.js';
import { connect } from './connect.js';
import { dequeue } from './dequeue.js';
import { enqueue } from './enqueue.js';
import { Forks } from './forks.js';
import { gather } from './gather.js';
import type { ProgramJoining } from './program-joining.js';
import { PressedKeys } from './pressed-keys.js';
import { type ChainScene, ProgramChain, ProgramCount } from './program-chain.js';
import { press } from './press.js';
import { prompt } from './prompts.js';
import { record } from './record.js';
import { refer } from './refer.js';
import { start } from './start.js';
import { stop } from './stop.js';
import type {
  NestedEnd,
  NestedProgram,
  Outcome,
  ProgramCalls,
  ProgramRecogniser,
  ProgramTalks,
  Scene,
  TranscribeRecording,
} from './scene.js';
import type { Verb, VerbResult } from './verbs.js';

export interface ProgramParts {
  /** Absent: this server has no telephone. */
  readonly calls?: ProgramCalls | undefined;
  readonly callerTexts: ProgramRecogniser;
  /** Absent: this server has no recogniser. */
  readonly transcribe?: TranscribeRecording;
  readonly joining: ProgramJoining;
  /** Absent: nobody else can talk in the calls of programs. */
  readonly talks?: ProgramTalks | undefined;
  readonly time: Time;
  readonly log: Log;
}

/** Events that are kept until the call is answered. */
const MOST_KEPT = 100;
export const REDIRECTED: VerbResult = { of: 'redirect' };
const STATUSES = { busy: 486, rejected: 404 };

export class ProgramLeg {
  readonly door: Door;
  readonly #caller: ProgramCaller;
  readonly #parts: ProgramParts;
  readonly #keys = new PressedKeys();
  readonly #typed = new Set<(text: string) => void>();
  readonly #over = new AbortController();
  readonly #answered: Promise<HandledCall>;
  readonly #forks = new Forks();
  readonly #lasting = new Set<Promise<unknown>>();
  readonly #count: ProgramCount;
  /** Programs within verbs have a count of their own: a queue asks for its program again and again. */
  readonly #nestedCount: ProgramCount;
  #handled: HandledCall | undefined;
  #asked = false;
  /** Events of a call that is not answered yet. */
  #kept: CallEvent[] = [];

  constructor(caller: ProgramCaller, open: OpenDoor, parts: ProgramParts) {
    this.#caller = caller;
    this.#parts = parts;
    this.#count = new ProgramCount(parts.time);
    this.#nestedCount = new ProgramCount(parts.time);
    const isAnswered = () => this.isAnswered;
    const isOver = () => this.#over.signal.aborted;
    this.door = open({
      about: caller.about,
      get isAnswered() {
        return isAnswered();
      },
      get isOver() {
        return isOver();
      },
      warn: (warning) => this.warn(warning),
    });
    this.#answered = new Promise((resolve, reject) => {
      caller.onceTalking((handled) => (this.#talks(handled), resolve(handled)));
      this.#over.signal.addEventListener('abort', () => reject(callOver()), { once: true });
    });
    this.#answered.catch(() => undefined);
  }

  get isAnswered(): boolean {
    return this.#handled !== undefined;
  }

  /** A text that the client of the call types counts as words of its user. */
  typed(text: string): void {
    for (const listener of this.#typed) listener(text);
  }

  /** The chain of programs that conducts the call. */
  chain(): ProgramChain {
    return this.#chain(this.#count, undefined);
  }

  /** Answers the call, unless it is answered. Rejects with ABORTED if the leg ends before. */
  answer(): Promise<HandledCall> {
    if (this.#handled === undefined && !this.#asked) this.#caller.answer();
    this.#asked = true;
    return this.#answered;
  }

  async hangUp(): Promise<void> {
    if (this.#over.signal.aborted) return;
    if (this.#handled === undefined) return this.#caller.refuse({ reason: 'rejected', status: 480 });
    try {
      await this.#handled.hangUp();
    } catch (error) {
      tellDefect(error, { work: 'call', call: this.#caller.id });
    }
  }

  warn(warning: Warning): void {
    this.#parts.log.info({ call: this.#caller.id, ...warning }, 'warning of a call program');
    this.tell({ type: 'program.warning', ...stated({ ...warning }) });
  }

  /** Observers are told of a call that is answered. */
  tell(event: CallEvent): void {
    if (this.#handled !== undefined) this.#handled.call.tell(event);
    else if (this.#kept.length < MOST_KEPT) this.#kept.push(event);
  }

  /** The call is over. The last verb may still tell its result. Idempotent. */
  end(): void {
    this.#over.abort();
    this.#forks.close();
  }

  /** No program is performed any more. The door closes after the work that outlasts the call. Idempotent. */
  close(): void {
    this.end();
    if (this.#lasting.size === 0) this.door.close();
    else void Promise.allSettled(this.#lasting).then(() => this.door.close());
  }

  #chain(count: ProgramCount, allowed: readonly Verb['verb'][] | undefined): ProgramChain {
    return new ProgramChain({
      door: this.door,
      count,
      allowed,
      perform: (verb, given) => this.#perform(verb, this.#scene(given)),
      began: ({ verb }) => this.tell({ type: 'program.verb', verb }),
      warn: (warning) => this.warn(warning),
    });
  }

  async #perform(verb: Verb, scene: Scene): Promise<Outcome> {
    switch (verb.verb) {
      case 'say':
      case 'play':
      case 'pause':
        return prompt(verb, scene);
      case 'press':
        return press(verb, scene);
      case 'gather':
        return gather(verb, scene);
      case 'record':
        return record(verb, scene);
      case 'connect':
        return connect(verb, scene);
      case 'start':
        return start(verb, scene);
      case 'stop':
        return stop(verb, scene);
      case 'refer':
        return refer(verb, scene);
      case 'redirect':
        return { follow: verb.to, result: REDIRECTED };
      case 'dial':
        return dial(verb, scene);
      case 'conference':
        return conference(verb, scene);
      case 'enqueue':
        return enqueue(verb, scene);
      case 'dequeue':
        return dequeue(verb, scene);
      case 'leave':
        return 'leave';
      case 'hangup':
        if (this.#handled === undefined) await scene.answered();
        return 'end';
      case 'reject':
        if (this.#handled === undefined)
          this.#caller.refuse({ reason: 'rejected', status: STATUSES[verb.reason] });
        return 'end';
    }
  }

  #scene({ signal, afterwards }: ChainScene): Scene {
    const { callerTexts, joining, transcribe, talks, time, calls } = this.#parts;
    return {
      about: this.#caller.about,
      isAnswered: this.isAnswered,
      calls,
      joining,
      door: this.door,
      keys: this.#keys,
      signal,
      callerTexts,
      transcribe,
      talks,
      forks: this.#forks,
      time,
      answered: () => this.answer(),
      typed: (listener) => {
        this.#typed.add(listener);
        return () => void this.#typed.delete(listener);
      },
      warn: (warning) => this.warn(warning),
      afterwards,
      lasting: (work) => void this.#lasting.add(work),
      within: (nested) => this.within(nested, signal),
      onLeg: (handled, nested) => this.onLeg(handled, nested, signal),
    };
  }

  /** See Scene. The program stops when `outer` is aborted. Never rejects. */
  async within(nested: NestedProgram, outer: AbortSignal): Promise<NestedEnd> {
    const { target, result, allowed } = nested;
    const signal = nested.signal === undefined ? outer : AbortSignal.any([outer, nested.signal]);
    if (signal.aborted) return 'stopped';
    const chain = this.#chain(this.#nestedCount, allowed);
    const stop = () => chain.stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await chain.perform((given) => this.door.follow(target, result, given));
    } catch (error) {
      if (signal.aborted) return 'stopped';
      this.warn(warningOf(error));
      if (!(error instanceof ProgramError)) tellDefect(error, { work: 'program', call: this.#caller.id });
      return 'failed';
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** See Scene. The program stops when `outer` is aborted. Never rejects. */
  async onLeg(handled: HandledCall, nested: NestedProgram, outer: AbortSignal): Promise<NestedEnd> {
    const { id, owner } = this.#caller.about;
    const leg = new ProgramLeg(
      answeredCaller(handled, owner, id),
      (call) => this.door.ofLeg(call),
      this.#parts,
    );
    const closed = new AbortController();
    void handled.call.closed.then(() => closed.abort());
    try {
      return await leg.within(nested, AbortSignal.any([outer, closed.signal]));
    } finally {
      leg.close();
    }
  }

  #talks(handled: HandledCall): void {
    this.#handled = handled;
    const resumeSilence = handled.leg?.suspendSilence();
    const stopKeys = handled.call.onKey((key) => this.#keys.pressed(key));
    this.#over.signal.addEventListener('abort', () => (stopKeys(), resumeSilence?.()), { once: true });
    for (const event of this.#kept) handled.call.tell(event);
    this.#kept = [];
  }
}

function callOver(): ParleyError {
  return new ParleyError('ABORTED', 'the call is over');
}

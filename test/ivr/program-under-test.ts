// A program that conducts a call: the call, its queue and the encoder are real; the door, the engine, the
// recogniser, the worker that hears, the far end and time are the test's.
import type { HandledCall } from '../../src/call/call-handler.js';
import type { ProgramCaller } from '../../src/call/call-programs.js';
import type { PhoneCallEnd } from '../../src/call/phone-calls.js';
import { ParleyError } from '../../src/errors.js';
import type { Door, OpenDoor, Program, ProgramCall, VerbMistake } from '../../src/ivr/door.js';
import { programJoining } from '../../src/ivr/program-joining.js';
import { ProgramRun } from '../../src/ivr/program-run.js';
import type { ProgramCalls, ProgramTalks, TranscribeRecording } from '../../src/ivr/scene.js';
import type { Gather, Notice, RecordVoice, Say, Target, Verb, VerbResult } from '../../src/ivr/verbs.js';
import { SILENT_LOG } from '../../src/log.js';
import type { PlayedSound } from '../../src/speaking/speech-piece.js';
import { type HandledCallUnderTest, openHandledCall, settle } from '../agents/handled-call.js';
import type { openCalls } from '../fakes/call-under-test.js';

export const say = (text: string, more: Partial<Say> = {}): Say => ({
  verb: 'say',
  text,
  format: 'text',
  times: 1,
  ...more,
});

export const gather = (more: Partial<Gather> = {}): Gather => ({
  verb: 'gather',
  inputs: ['keys'],
  prompts: [],
  isInterruptible: true,
  firstMs: 5000,
  betweenMs: 5000,
  finishKeys: '#',
  mostSpeechMs: 60_000,
  hints: [],
  action: { at: 'result' },
  tellsEmpty: false,
  ...more,
});

export const record = (more: Partial<RecordVoice> = {}): RecordVoice => ({
  verb: 'record',
  beeps: false,
  timeoutMs: 5000,
  finishKeys: '#',
  mostMs: 60_000,
  trims: true,
  action: { at: 'result' },
  callback: { target: { at: 'state' }, events: ['in-progress', 'completed', 'absent'] },
  ...more,
});

export const program = (...verbs: Verb[]): Program => ({ verbs, warnings: [] });

/** Programs by target; results and words in the order in which they came. */
export class ScriptedDoor implements Door {
  readonly programs: Map<string, Program | (() => Promise<Program>)>;
  readonly results: [at: string, result: VerbResult][];
  readonly notices: Notice[];
  readonly sounds: Map<string, PlayedSound>;
  call: ProgramCall | undefined;
  /** Calls that the program has placed. */
  readonly legs: ProgramCall[] = [];
  isClosed = false;

  /** @param parent the door of the call whose program has placed this one */
  constructor(parent?: ScriptedDoor) {
    this.programs = parent?.programs ?? new Map<string, Program | (() => Promise<Program>)>();
    this.results = parent?.results ?? [];
    this.notices = parent?.notices ?? [];
    this.sounds = parent?.sounds ?? new Map<string, PlayedSound>();
  }

  begin(): Promise<Program> {
    return this.#program('first');
  }

  follow({ at }: Target, result: VerbResult): Promise<Program> {
    this.results.push([at, result]);
    return this.#program(at);
  }

  tell(_target: Target, notice: Notice): void {
    this.notices.push(notice);
  }

  sound(name: string): Promise<PlayedSound> {
    const sound = this.sounds.get(name);
    if (sound !== undefined) return Promise.resolve(sound);
    return Promise.reject(new ParleyError('NOT_FOUND', `there is no sound ${name}`));
  }

  ofLeg(call: ProgramCall): Door {
    this.legs.push(call);
    return new ScriptedDoor(this);
  }

  nameOf(call: string): string {
    return `name of ${call}`;
  }

  codeOf(mistake: VerbMistake): string {
    return `code of ${mistake}`;
  }

  close(): void {
    this.isClosed = true;
  }

  async #program(at: string): Promise<Program> {
    const known = this.programs.get(at);
    return typeof known === 'function' ? known() : (known ?? program());
  }
}

const nothing = () => {
  throw new ParleyError('NOT_FOUND', 'the test has no rooms and queues');
};
/** For programs that join no calls. */
export const NOTHING_TO_JOIN = programJoining({
  rooms: { join: nothing, leave: nothing, room: nothing, recorder: nothing },
  queues: { join: nothing, leave: nothing, get: nothing, next: nothing, onceWaiting: nothing },
  bridges: { part: nothing },
  sounds: { music: nothing },
  unixMs: () => 0,
});

export interface ProgramUnderTest extends HandledCallUnderTest {
  readonly door: ScriptedDoor;
  readonly run: ProgramRun;
  /** What became of the caller before the answer. */
  readonly signals: string[];
  /** Programs that were told of: `type: message`. */
  mistakes(): string[];
  /** The caller hangs up before the answer. */
  givesUp(): void;
  press(keys: string): void;
}

interface Setting extends NonNullable<Parameters<typeof openHandledCall>[1]> {
  /** The program begins at the INVITE: the call can talk after the answer only. */
  readonly isAnswered?: boolean;
  readonly sounds?: Readonly<Record<string, PlayedSound>>;
  readonly from?: string;
  /** Absent: the server has no telephone. */
  readonly dialled?: ProgramCalls;
  readonly programs?: Readonly<Record<string, Program | (() => Promise<Program>)>>;
  readonly transcribe?: TranscribeRecording;
  readonly talks?: ProgramTalks;
}

export async function openProgram(
  calls: ReturnType<typeof openCalls>,
  verbs: readonly Verb[],
  {
    isAnswered = true,
    programs = {},
    sounds = {},
    from,
    dialled,
    transcribe,
    talks,
    ...setting
  }: Setting = {},
): Promise<ProgramUnderTest> {
  const under = openHandledCall(calls, setting);
  const { handled, call, callerTexts, time } = under;
  const door = new ScriptedDoor();
  for (const [at, one] of Object.entries({ first: program(...verbs), ...programs }))
    door.programs.set(at, one);
  for (const [name, sound] of Object.entries(sounds)) door.sounds.set(name, sound);
  const signals: string[] = [];
  let talking: ((answered: HandledCall) => void) | undefined;
  let giveUp: () => void = () => undefined;
  const over = Promise.race([call.closed, new Promise<void>((resolve) => (giveUp = resolve))]);
  const answer = () => {
    signals.push('answered');
    talking?.(handled);
  };
  const caller: ProgramCaller = {
    id: call.id,
    about: { id: call.id, protocol: 'sip', owner: undefined, direction: 'inbound', from },
    over,
    answer,
    ring: () => void signals.push('ringing'),
    onceTalking: (action) => {
      if (isAnswered) action(handled);
      else talking = action;
    },
    refuse: (why) => {
      signals.push(`refused ${(why as PhoneCallEnd).status ?? ''}`.trim());
      giveUp();
    },
  };
  const open: OpenDoor = (one) => {
    door.call = one;
    return door;
  };
  const run = new ProgramRun(caller, open, {
    callerTexts,
    transcribe,
    joining: NOTHING_TO_JOIN,
    talks,
    time,
    log: SILENT_LOG,
    calls: dialled,
  });
  await settle();
  return {
    ...under,
    door,
    run,
    signals,
    mistakes: () =>
      under.events.flatMap((event) =>
        event.type === 'program.warning' || event.type === 'program.failed'
          ? [`${event.type}: ${event.message}`]
          : [],
      ),
    givesUp: () => giveUp(),
    press: (keys) => {
      for (const key of keys) call.pressed(key);
    },
  };
}

/** The texts that were spoken whole, in order. */
export function spoken({ events }: Pick<ProgramUnderTest, 'events'>): string[] {
  return events.flatMap((event) => (event.type === 'utterance.spoken' ? [event.text] : []));
}

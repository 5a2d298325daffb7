// Programs that join their calls with each other: calls, rooms, queues and bridges are real; the door, the
// engine, time and what joins the sound are the test's.
import type { TestContext } from 'node:test';
import type { CallEvent } from '../../src/call/call-events.js';
import { answeredCaller } from '../../src/ivr/answered-caller.js';
import type { Program } from '../../src/ivr/door.js';
import { programJoining } from '../../src/ivr/program-joining.js';
import { ProgramRun } from '../../src/ivr/program-run.js';
import type { Conference, Dequeue, Enqueue, Verb } from '../../src/ivr/verbs.js';
import { SILENT_LOG } from '../../src/log.js';
import { settle } from '../agents/handled-call.js';
import { type JoinedCall, type JoinedCallsUnderTest, joinedCalls } from '../call/joined-calls.js';
import type { openCalls } from '../fakes/call-under-test.js';
import { DialledCalls } from './dialled-calls.js';
import { program, ScriptedDoor } from './program-under-test.js';

export const conference = (more: Partial<Conference> = {}): Conference => ({
  verb: 'conference',
  room: 'first floor',
  isMuted: false,
  chimes: 'none',
  opens: true,
  ends: false,
  wait: 'silence',
  mostMembers: 250,
  isRecorded: false,
  events: [],
  ...more,
});

export const enqueue = (more: Partial<Enqueue> = {}): Enqueue => ({
  verb: 'enqueue',
  queue: 'sales',
  mostWaiting: 1000,
  wait: 'music',
  action: { at: 'after' },
  ...more,
});

export const dequeue = (more: Partial<Dequeue> = {}): Dequeue => ({
  verb: 'dequeue',
  queue: 'sales',
  waitMs: 30_000,
  action: { at: 'after' },
  ...more,
});

export interface JoinedProgram extends JoinedCall {
  readonly door: ScriptedDoor;
  readonly run: ProgramRun;
  readonly events: readonly CallEvent[];
  /** Verbs, warnings, and what joined the call and parted it, in words. */
  story(): readonly string[];
}

export interface JoinedProgramsUnderTest extends JoinedCallsUnderTest {
  /** Its orders have the ringing of callers. */
  readonly dialled: DialledCalls;
  /** A call that this program conducts. The program `after` holds the line for an hour. */
  begin(
    verbs: readonly Verb[],
    options?: {
      readonly owner?: string;
      readonly programs?: Readonly<Record<string, Program | (() => Promise<Program>)>>;
    },
  ): Promise<JoinedProgram>;
}

export const HELD = program({ verb: 'pause', ms: 3_600_000 });

export function joinedPrograms(t: TestContext, calls: ReturnType<typeof openCalls>): JoinedProgramsUnderTest {
  const under = joinedCalls(t, calls);
  const { joining, sounds, time } = under;
  const { rooms, queues, bridges } = joining;
  const unixMs = () => 1_000_000 + time.now();
  const dialled = new DialledCalls();
  const parts = {
    calls: dialled,
    joining: programJoining({ rooms, queues, bridges, sounds, unixMs }),
    callerTexts: { isCallerRecognised: false, follow: () => () => undefined, conceal: () => () => undefined },
    time,
    log: SILENT_LOG,
  };
  const begin: JoinedProgramsUnderTest['begin'] = async (verbs, { owner, programs = {} } = {}) => {
    const joined = under.open({ isTelephone: true, ...(owner === undefined ? {} : { owner }) });
    const events: CallEvent[] = [];
    joined.call.observe((event) => void events.push(event));
    const door = new ScriptedDoor();
    for (const [at, one] of Object.entries({ first: program(...verbs), after: HELD, ...programs }))
      door.programs.set(at, one);
    const run = new ProgramRun(answeredCaller(joined.handled, owner), () => door, parts);
    await settle();
    return {
      ...joined,
      get leg() {
        return joined.leg;
      },
      door,
      run,
      events,
      story: () =>
        events.flatMap((event) => {
          if (event.type === 'program.verb') return [event.verb];
          if (event.type === 'program.warning') return [`warning ${event.code ?? ''}: ${event.message}`];
          return 'reason' in event ? [`${event.type} ${event.reason}`] : [];
        }),
    };
  };
  return { ...under, dialled, begin };
}

// What answers a call that came in: the rules of the routing table, or the
// greeting where none fits.
import type { PhoneSpeech } from '../../src/call/phone-calls.js';
import { announcementIn } from '../announcement.js';
import { refused, type Result, writeReason } from '../message/refusal.js';
import type { SipRequest } from '../message/request.js';
import type { Ringing, Route, RouteAnswer, RoutingTable } from '../routing-table.js';
import type { PreludePlan } from './prelude.js';

export interface Spoken {
  /** Absent: nothing is said. */
  readonly speech?: PhoneSpeech;
  readonly after: 'stay' | 'hangup';
}

export interface Answer {
  /** Name of the rule. */
  readonly route: string;
  /** Name of the API key that the call belongs to; absent: to every key. */
  readonly owner?: string;
  /** What is heard before the answer or the refusal. */
  readonly prelude: PreludePlan;
  readonly what: Result<Spoken>;
}

export const GREETING_ROUTE = 'greeting';
const AT_ONCE: PreludePlan = { ringMs: 0 };

export class Answering {
  readonly #table: RoutingTable;
  readonly #greeting: PhoneSpeech;
  readonly #ringMs: number;

  /** `ringMs`: before the greeting of calls that no rule answers. */
  constructor(table: RoutingTable, greeting: PhoneSpeech, ringMs = 0) {
    this.#table = table;
    this.#greeting = greeting;
    this.#ringMs = ringMs;
  }

  to(invite: SipRequest): Answer {
    const { uri, from } = invite;
    const route = this.#table.find({ uri, from, all: (name) => invite.all(name) });
    if (route !== undefined) return this.#by(route, invite);
    const what = { value: { speech: this.#greeting, after: 'stay' } } as const;
    return { route: GREETING_ROUTE, prelude: { ringMs: this.#ringMs }, what };
  }

  #by({ name, key, answer, ringing }: Route, invite: SipRequest): Answer {
    const what = this.#what(answer, invite);
    const route = { route: name, ...(key === undefined ? {} : { owner: key }) };
    if (what.refusal === undefined) {
      return { ...route, prelude: ringing === undefined ? AT_ONCE : this.#before(ringing, what.value), what };
    }
    const speech = answer.kind === 'reject' ? answer.announcement : undefined;
    const prelude = speech === undefined ? AT_ONCE : { ringMs: 0, early: { speech, whole: true } };
    return { ...route, prelude, what };
  }

  /** A text of its own is spoken as the answer is. */
  #before({ seconds, early, earlyText: text }: Ringing, { speech }: Spoken): PreludePlan {
    const ringMs = seconds * 1000;
    if (!early) return { ringMs };
    if (text !== undefined) return { ringMs, early: { speech: { ...speech, text }, whole: true } };
    return speech === undefined ? { ringMs } : { ringMs, early: { speech, whole: false } };
  }

  #what(answer: RouteAnswer, invite: SipRequest): Result<Spoken> {
    switch (answer.kind) {
      case 'say': {
        const { kind: _kind, after, ...speech } = answer;
        return { value: { speech, after } };
      }
      case 'announce':
        return this.#announcement(invite, answer.mostCharacters, answer.after);
      case 'wait':
        return { value: { after: 'stay' } };
      case 'agent':
        return refused(480, 'no agent backend of this name is connected');
      case 'reject': {
        const { status, cause, text } = answer;
        const reason = cause === undefined ? [] : [['Reason', writeReason({ protocol: 'q.850', cause, text })] as const]; // prettier-ignore
        return refused(status, text ?? '', reason);
      }
    }
  }

  /** What the request asks for; the greeting where it asks for nothing. */
  #announcement(invite: SipRequest, mostCharacters: number, after: Spoken['after']): Result<Spoken> {
    const header = (name: string) => invite.first(name);
    const asked = announcementIn({ params: invite.uri.params, header }, mostCharacters);
    if (asked.refusal !== undefined) return asked;
    return { value: { speech: asked.value ?? this.#greeting, after } };
  }
}

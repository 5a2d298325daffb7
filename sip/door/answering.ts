// What answers a call that came in: the rules of the routing table, or the
// greeting where none fits.
import type { PhoneSpeech } from '../../src/call/phone-calls.js';
import { announcementIn } from '../announcement.js';
import { writeReason } from '../headers/reason.js';
import { refused, type Judged } from '../judged.js';
import type { SipRequest } from '../message/request.js';
import type { RouteAnswer, RoutingTable } from '../routing-table.js';

export interface Spoken {
  readonly speech: PhoneSpeech;
  readonly after: 'stay' | 'hangup';
}

export interface Answer {
  /** Name of the rule. */
  readonly route: string;
  readonly what: Judged<Spoken>;
}

export const GREETING_ROUTE = 'greeting';

export class Answering {
  readonly #table: RoutingTable;
  readonly #greeting: PhoneSpeech;

  constructor(table: RoutingTable, greeting: PhoneSpeech) {
    this.#table = table;
    this.#greeting = greeting;
  }

  to(invite: SipRequest): Answer {
    const { uri, from } = invite;
    const route = this.#table.find({ uri, from, all: (name) => invite.all(name) });
    if (route !== undefined) return { route: route.name, what: this.#by(route.answer, invite) };
    return { route: GREETING_ROUTE, what: { value: { speech: this.#greeting, after: 'stay' } } };
  }

  #by(answer: RouteAnswer, invite: SipRequest): Judged<Spoken> {
    switch (answer.kind) {
      case 'say': {
        const { text, voice, language, after } = answer;
        return { value: { speech: speechOf({ text, voice, language }), after } };
      }
      case 'announce':
        return this.#announcement(invite, answer.mostCharacters, answer.after);
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
  #announcement(invite: SipRequest, mostCharacters: number, after: Spoken['after']): Judged<Spoken> {
    const header = (name: string) => invite.first(name);
    const asked = announcementIn({ params: invite.uri.params, header }, mostCharacters);
    if (asked.refusal !== undefined) return asked;
    return { value: { speech: asked.value ?? this.#greeting, after } };
  }
}

function speechOf({ text, voice, language }: { text: string; voice: string | undefined; language: string | undefined }): PhoneSpeech {
  return {
    text,
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
  };
} // prettier-ignore

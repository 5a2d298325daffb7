// Chooses the answer to an incoming call: by the rules of the routing table, or the greeting if no rule
// matches.
import type { CallHandler } from '../../src/call/call-handler.js';
import type { BridgeRequest } from '../../src/call/bridges.js';
import type { ProgramSource } from '../../src/config/ivr-config.js';
import type { JoinRule } from '../../src/call/joining.js';
import type { CallText } from '../../src/call/phone-calls.js';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import type { RelayConfig } from '../../src/config/relay-config.js';
import type { StartRecording } from '../../src/recording/call-recording.js';
import { isStatedLanguage, tagOfStated } from '../../src/speaking/language-plan.js';
import { stated } from '../../src/stated.js';
import { pathOf } from '../message/history-info.js';
import { refused, type Result, writeReason } from '../message/refusal.js';
import type { Parameters } from '../message/scanner.js';
import type { SipRequest } from '../message/message.js';
import type { Ringing, Route, RouteAnswer, RoutingTable } from '../routing-table.js';
import type { PreludePlan } from './greeting.js';

export interface Spoken {
  /** Absent: nothing is said. */
  readonly speech?: CallText;
  /** Name of the agent that talks; absent: none does. */
  readonly agent?: string;
  /** The application that talks, if no agent does. */
  readonly relay?: RelayConfig;
  /** The call is joined to others in this way. */
  readonly join?: JoinRule;
  /** The program that conducts the call, and decides whether it is answered. */
  readonly program?: ProgramSource;
  /** The call is answered when the far end of this bridge answers. */
  readonly bridge?: BridgeRequest;
  /** The next step when everything was said, or the call is joined to nothing any more. */
  readonly after: 'stay' | 'hangup';
}

export interface Answer {
  /** Name of the rule. */
  readonly route: string;
  /** Name of the API key that owns the call; absent: visible to every key. */
  readonly owner?: string;
  /** Ringing or early media before the answer or the refusal. */
  readonly prelude: PreludePlan;
  readonly what: Result<Spoken>;
  /** Settings of hearing from the answer on; absent: the rule asks for none. */
  readonly listen?: Partial<HearingSettings>;
  /** The recording from the answer on; absent: the rule asks for none. */
  readonly record?: StartRecording;
}

type AgentNames = Pick<CallHandler, 'usual' | 'has'>;

/** The programs of calls that no rule matches. */
export interface UsualPrograms {
  /** It conducts all of these calls; absent: there is none. */
  readonly document?: ProgramSource | undefined;
  /** It answers extension 600 of a server without rules, usual agent and document. */
  readonly example: ProgramSource;
}

const GREETING_ROUTE = 'greeting';
const AGENT_ROUTE = 'agent';
const DOCUMENT_ROUTE = 'twiml';
const EXAMPLE_ROUTE = 'example';
/** The user part of the extension that the example program answers. */
const EXAMPLE_EXTENSION = '600';
const AT_ONCE: PreludePlan = { ringMs: 0 };

export class Answering {
  readonly #table: RoutingTable;
  readonly #greeting: CallText;
  readonly #ringMs: number;
  readonly #agents: AgentNames | undefined;
  readonly #programs: UsualPrograms | undefined;

  /**
   * `ringMs`: ringing time of calls that match no rule. The usual program or the usual agent takes these, or
   * they are greeted.
   */
  constructor(
    table: RoutingTable,
    greeting: CallText,
    ringMs = 0,
    agents?: AgentNames,
    programs?: UsualPrograms,
  ) {
    this.#table = table;
    this.#greeting = greeting;
    this.#ringMs = ringMs;
    this.#agents = agents;
    this.#programs = programs;
  }

  to(invite: SipRequest): Answer {
    const { uri, from } = invite;
    const route = this.#table.find({ uri, from, all: (name) => invite.all(name) });
    if (route !== undefined) return this.by(route, invite);
    const prelude = { ringMs: this.#ringMs };
    const program = this.#programs?.document;
    if (program !== undefined)
      return { route: DOCUMENT_ROUTE, prelude, what: { value: { program, after: 'stay' } } };
    const agent = this.#agents?.usual;
    if (agent !== undefined)
      return { route: AGENT_ROUTE, prelude, what: { value: { agent, after: 'stay' } } };
    const example = this.#programs?.example;
    if (example !== undefined && this.#table.routes.length === 0 && uri.user === EXAMPLE_EXTENSION)
      return { route: EXAMPLE_ROUTE, prelude, what: { value: { program: example, after: 'stay' } } };
    return { route: GREETING_ROUTE, prelude, what: { value: { speech: this.#greeting, after: 'stay' } } };
  }

  /** The answer of one rule. */
  by({ name, key, answer, ringing, listen, record }: Route, invite: SipRequest): Answer {
    const what = this.#what(answer, invite);
    const route = stated({ route: name, owner: key, listen, record });
    if (what.refusal === undefined) {
      return { ...route, prelude: ringing === undefined ? AT_ONCE : this.#before(ringing, what.value), what };
    }
    const speech = answer.kind === 'reject' ? answer.announcement : undefined;
    const prelude = speech === undefined ? AT_ONCE : { ringMs: 0, early: { speech, whole: true } };
    return { ...route, prelude, what };
  }

  /** A separate early text uses the voice of the answer. It is heard to its end. */
  #before({ seconds, early, earlyText: text }: Ringing, { speech }: Spoken): PreludePlan {
    const ringMs = seconds * 1000;
    if (!early) return { ringMs };
    if (text !== undefined) {
      const { interruptible: _interruptible, ...voice } = speech ?? {};
      return { ringMs, early: { speech: { ...voice, text }, whole: true } };
    }
    return speech === undefined ? { ringMs } : { ringMs, early: { speech, whole: false } };
  }

  #what(answer: RouteAnswer, invite: SipRequest): Result<Spoken> {
    switch (answer.kind) {
      case 'say': {
        const { kind: _kind, after, ...speech } = answer;
        return { value: { speech, after } };
      }
      case 'announce':
        return this.#announcement(invite, answer);
      case 'wait':
        return { value: { after: 'stay' } };
      case 'agent':
        if (this.#agents?.has(answer.agent) !== true) return refused(480, 'there is no agent of this name');
        return { value: { agent: answer.agent, after: 'stay' } };
      case 'relay':
        if (this.#agents === undefined) return refused(480, 'no application can be connected here');
        return { value: { relay: answer.relay, after: 'stay' } };
      case 'bridge':
        return bridged(answer, invite);
      case 'program':
        return { value: { program: answer.source, after: 'stay' } };
      case 'room':
      case 'queue':
        return { value: { join: answer.join, after: answer.after } };
      case 'reject': {
        const { status, cause, text } = answer;
        const reason =
          cause === undefined ? [] : [['Reason', writeReason({ protocol: 'q.850', cause, text })] as const];
        return refused(status, text ?? '', reason);
      }
    }
  }

  /** The text that the request carries; the greeting if it carries none. */
  #announcement(
    invite: SipRequest,
    { mostCharacters, interruptible, after }: Extract<RouteAnswer, { kind: 'announce' }>,
  ): Result<Spoken> {
    const header = (name: string) => invite.first(name);
    const asked = announcementIn({ params: invite.uri.params, header }, mostCharacters);
    if (asked.refusal !== undefined) return asked;
    const speech = { ...(asked.value ?? this.#greeting), ...stated({ interruptible }) };
    return { value: { speech, after } };
  }
}

/** A call that is placed for another one takes over its hops, and none may be left. */
function bridged(
  { bridge, after }: Extract<RouteAnswer, { kind: 'bridge' }>,
  invite: SipRequest,
): Result<Spoken> {
  return pathOf(invite).hops < 1 ? refused(483, 'Too Many Hops') : { value: { bridge, after } };
}

interface Announcement {
  readonly text: string;
  readonly voice?: string;
  /** BCP 47 tag. */
  readonly language?: string;
}

interface AnnouncementRequest {
  readonly params: Parameters;
  /** The first value of a header field, by name. */
  readonly header: (name: string) => string | undefined;
}

const VOICE = /^[\w .:+-]{1,100}$/;

/**
 * Reads the announcement that a request asks for, as in RFC 4240:
 * `sip:annc@host;text=Hello%20there;voice=slt;locale=en-US`, `play` with a text in a data URL, or the header
 * fields X-Speech-Text, X-Speech-Voice and X-Speech-Language. Undefined if it asks for none.
 */
export function announcementIn(
  { params, header }: AnnouncementRequest,
  mostCharacters: number,
): Result<Announcement | undefined> {
  const play = params.get('play');
  const inUri = params.get('text') ?? (play === undefined ? undefined : textOfData(play));
  if (play !== undefined && inUri === undefined) return refused(404, 'what play names is not available here');
  const text = (inUri ?? header('x-speech-text'))?.trim();
  if (text === undefined || text === '') return { value: undefined };
  if (text.length > mostCharacters) {
    return refused(
      inUri === undefined ? 413 : 414,
      `the text to speak has more than ${mostCharacters} characters`,
    );
  }
  const voice = params.get('voice') ?? header('x-speech-voice');
  const language = params.get('language') ?? params.get('locale') ?? header('x-speech-language');
  if (voice !== undefined && !VOICE.test(voice)) return refused(400, 'the voice is not a name');
  if (language !== undefined && !isStatedLanguage(language))
    return refused(400, 'the language is not a tag such as en-US');
  const tag = tagOfStated(language?.replace('_', '-'));
  return { value: stated({ text, voice, language: tag }) };
}

/** Decodes the text of a `data:` URL (RFC 2397); other URLs are not fetched for callers. */
function textOfData(url: string): string | undefined {
  const [, base64, data = ''] =
    /^data:(?:text\/plain)?(?:;charset=utf-8)?(;base64)?,([^]*)$/i.exec(url) ?? [];
  if (data === '') return undefined;
  if (base64 !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    return data; // the URI's escapes were resolved already, and a percent sign is literal
  }
}

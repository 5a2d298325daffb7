// Reads the routing table from its JSON:
//
//   {"routes": [
//     {"name": "sales", "to": "100", "from": "+49*", "headers": {"X-Tenant": "acme"},
//      "say": {"text": "Good morning.", "voice": "slt", "language": "en", "after": "hangup"}},
//     {"to": "annc", "announce": {"mostCharacters": 500}},
//     {"to": "300", "key": "acme", "wait": {}},
//     {"to": "9*", "reject": {"status": 404, "cause": 1, "text": "Unallocated",
//                             "announcement": {"text": "This number is not in service."}}},
//     {"to": "200", "ring": 3, "early": true, "earlyText": "One moment.", "say": {"text": "Hello."}},
//     {"to": "400", "listen": {"silenceMs": 800}, "record": {"format": "opus", "announce": "beep"},
//      "say": {"text": "How can I help you?", "interruptible": "speech"}},
//     {"to": "500", "queue": {"name": "support"}},
//     {"to": "600", "program": "main"},
//     {"to": "601", "twiml": {"url": "https://ivr.example.com/voice"}},
//     {"agent": "reception"}
//   ]}
import { FieldReader, isFields, type Fields } from '../src/config/fields.js';
import { INTERRUPTIBLE, type Interruptible } from '../src/call/utterance.js';
import type { HearingSettings } from '../src/config/hearing-config.js';
import { type NamedRelays, readNamedRelay } from '../src/config/named-relay.js';
import { changedSettings } from '../src/hearing/hearing-settings.js';
import { asParleyError } from '../src/errors.js';
import { MOST_ANNOUNCEMENT, type StartRecording } from '../src/recording/call-recording.js';
import { RECORDING_FORMATS } from '../src/recording/recording-name.js';
import { stated } from '../src/stated.js';
import {
  JOIN_KINDS,
  type JoinKind,
  readJoinRule,
  PROGRAM_KINDS,
  type ProgramProblem,
  readProgramRule,
} from './routing-rules.js';
import {
  Pattern,
  type Ringing,
  type Route,
  type RouteAnswer,
  RoutingTable,
  type SpokenText,
} from './routing-table.js';

const MOST_ROUTES = 1000;
const MOST_HEADERS = 16;
const MOST_PATTERN = 256;
const MOST_TEXT = 5000;
const MOST_EARLY_TEXT = 1000; // about a minute, which is all that is heard of it
const MOST_RING = 120; // seconds; proxies give up after 180
const USUAL_ANNOUNCEMENT = 500;
const KINDS = ['say', 'announce', 'wait', 'agent', 'reject', ...JOIN_KINDS, ...PROGRAM_KINDS] as const;
/** An application may also answer with a `relay`; in a file, the agents of AGENTS_FILE have theirs. */
const ANSWER_KINDS = [...KINDS, 'relay'] as const;
type Kind = (typeof ANSWER_KINDS)[number];
type ProgramKind = (typeof PROGRAM_KINDS)[number];
const ROUTE = ['name', 'to', 'from', 'headers', 'key', 'ring', 'early', 'earlyText', 'listen', 'record'];
const FIELDS: Readonly<Record<Exclude<(typeof KINDS)[number], JoinKind | ProgramKind>, readonly string[]>> = {
  say: ['text', 'voice', 'language', 'interruptible', 'after'],
  announce: ['mostCharacters', 'interruptible', 'after'],
  wait: [],
  agent: [],
  reject: ['status', 'cause', 'text', 'announcement'],
};
const ANNOUNCEMENT = ['text', 'voice', 'language', 'interruptible'];
const RECORD = ['format', 'announce'];

type RoutingFile =
  | { readonly table: RoutingTable; readonly problems?: undefined }
  /** Every mistake, each with the place that it is in. */
  | { readonly problems: readonly string[]; readonly table?: undefined };

/** The parts of the configuration that rules refer to. */
export interface RoutingContext {
  /** True if an API key has this name. */
  readonly isKey: (name: string) => boolean;
  /** True if this server has an agent of this name. */
  readonly isAgent: (name: string) => boolean;
  /** Settings of calls whose rule states none. */
  readonly hearing: HearingSettings;
  /** True if this server records calls. */
  readonly records: boolean;
  /** The applications that the answer for one call may name. */
  readonly namedRelays: NamedRelays;
  readonly programProblem: ProgramProblem;
}

export function readRoutingFile(json: string, context: RoutingContext): RoutingFile {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch (error) {
    return { problems: [`the file is not JSON: ${(error as Error).message}`] };
  }
  const routes = isFields(content) ? content['routes'] : undefined;
  if (!Array.isArray(routes)) return { problems: ['the file must be an object with a list "routes"'] };
  if (routes.length > MOST_ROUTES) return { problems: [`routes must have at most ${MOST_ROUTES} items`] };
  const reader = new RouteReader(context, KINDS);
  const read = routes.map((route: unknown, index) =>
    reader.route(route, `routes[${index}]`, `route ${index + 1}`),
  );
  const usable = read.filter((route) => route !== undefined);
  return reader.problems.length > 0 ? { problems: reader.problems } : { table: new RoutingTable(usable) };
}

/** Reads one rule, as an application gives it for one call. */
export function readRule(
  value: unknown,
  context: RoutingContext,
): { readonly route: Route | undefined; readonly problems: readonly string[] } {
  const reader = new RouteReader(context, ANSWER_KINDS);
  const route = reader.route(value, 'the answer', 'incoming');
  return { route, problems: reader.problems };
}

class RouteReader {
  readonly #read = new FieldReader();
  readonly #context: RoutingContext;
  readonly #kinds: readonly Kind[];

  constructor(context: RoutingContext, kinds: readonly Kind[]) {
    this.#context = context;
    this.#kinds = kinds;
  }

  get problems(): readonly string[] {
    return this.#read.problems;
  }

  route(value: unknown, at: string, usualName: string): Route | undefined {
    if (!this.#read.fields(value, at, [...ROUTE, ...this.#kinds])) return undefined;
    const name = this.#text(value, 'name', at, 100) ?? usualName;
    const [to, from] = [this.#pattern(value, 'to', at), this.#pattern(value, 'from', at)];
    const headers = this.#headers(value['headers'], `${at}.headers`);
    const answer = this.#answer(value, at);
    const key = this.#text(value, 'key', at, 64);
    if (key !== undefined && !this.#context.isKey(key)) {
      this.#read.problems.push(
        `${at}.key: no key has the name ${JSON.stringify(key)}; API_KEYS or API_KEYS_FILE lists them`,
      );
    }
    const ringing = this.#ringing(value, at);
    const [listen, record] = [this.#listen(value, at), this.#record(value, at)];
    if (answer === undefined) return undefined;
    return stated({ name, headers, answer, to, from, key, ringing, listen, record });
  }

  /** Names the first setting that is not allowed: what the others may be can depend on it. */
  #listen(route: Fields, at: string): Partial<HearingSettings> | undefined {
    const value = this.#answered(route, 'listen', at);
    if (value === undefined) return undefined;
    const { hearing } = this.#context;
    // No rule can say who would end the turns.
    const allowed = Object.keys(hearing).filter((setting) => setting !== 'endedByHand');
    if (!this.#read.fields(value, `${at}.listen`, allowed)) return undefined;
    try {
      changedSettings(hearing, value);
      return value;
    } catch (error) {
      this.#read.problems.push(`${at}.listen.${asParleyError(error, 'INVALID_FIELD').message}`);
      return undefined;
    }
  }

  #record(route: Fields, at: string): StartRecording | undefined {
    const value = this.#answered(route, 'record', at);
    const place = `${at}.record`;
    if (value === undefined || !this.#read.fields(value, place, RECORD)) return undefined;
    if (!this.#context.records) {
      return this.#read.problem(
        place,
        'needs a folder of recordings, which this server lacks; RECORDINGS_DIR is not set',
      );
    }
    const format = this.#read.word(value, 'format', place, RECORDING_FORMATS);
    const announce = this.#text(value, 'announce', place, MOST_ANNOUNCEMENT);
    return stated({ format, announce });
  }

  /** The value of a field that is true or an object, in a rule that answers. True is an empty object. */
  #answered(route: Fields, name: 'listen' | 'record', at: string): unknown {
    const value = route[name];
    if (value === undefined || value === false) return undefined;
    if (route['reject'] !== undefined) {
      return this.#read.problem(`${at}.${name}`, 'has no effect: a call that is refused is not answered');
    }
    if (value === true) return {};
    if (isFields(value)) return value;
    return this.#read.problem(`${at}.${name}`, 'must be true, false or an object');
  }

  #answer(route: Fields, at: string): RouteAnswer | undefined {
    const [kind, more] = this.#kinds.filter((name) => route[name] !== undefined);
    if (kind === undefined || more !== undefined) {
      this.#read.problems.push(`${at} must have exactly one of ${this.#kinds.join(', ')}`);
      return undefined;
    }
    const value = route[kind];
    const place = `${at}.${kind}`;
    if (kind === 'agent') return this.#agent(route, at);
    if (kind === 'program' || kind === 'twiml')
      return readProgramRule(this.#read, route, at, this.#context.programProblem);
    if (kind === 'relay') {
      const relay = readNamedRelay(this.#read, value, place, this.#context.namedRelays);
      return relay && { kind, relay };
    }
    const joined = JOIN_KINDS.find((name) => name === kind);
    if (joined !== undefined) return readJoinRule(this.#read, joined, value, place);
    if (!this.#read.fields(value, place, FIELDS[kind as keyof typeof FIELDS])) return undefined;
    if (kind === 'wait') return { kind };
    if (kind === 'say') return this.#say(value, place);
    if (kind === 'reject') return this.#reject(value, place);
    const mostCharacters =
      this.#read.integer(value, 'mostCharacters', place, 1, MOST_TEXT) ?? USUAL_ANNOUNCEMENT;
    const interruptible = this.#interruptible(value, place);
    return stated({
      kind: 'announce',
      mostCharacters,
      interruptible,
      after: this.#after(value, place) ?? 'hangup',
    });
  }

  #agent(route: Fields, at: string): RouteAnswer | undefined {
    const agent = this.#text(route, 'agent', at, 100);
    if (agent === undefined) return undefined;
    if (this.#context.isAgent(agent)) return { kind: 'agent', agent };
    const name = JSON.stringify(agent);
    return this.#read.problem(
      `${at}.agent`,
      `names ${name}, which is no agent of this server; AGENTS_FILE lists them`,
    );
  }

  #say(value: Fields, at: string): RouteAnswer {
    const spoken = this.#spoken(value, at, MOST_TEXT);
    return { kind: 'say', ...spoken, after: this.#after(value, at) ?? 'stay' };
  }

  #spoken(value: Fields, at: string, most: number): SpokenText {
    const text = this.#text(value, 'text', at, most) ?? '';
    if (value['text'] === undefined) this.#read.problems.push(`${at}.text is missing`);
    const [voice, language] = [this.#text(value, 'voice', at, 100), this.#text(value, 'language', at, 35)];
    return stated({ text, voice, language, interruptible: this.#interruptible(value, at) });
  }

  #interruptible(fields: Fields, at: string): Interruptible | undefined {
    return this.#read.word(fields, 'interruptible', at, INTERRUPTIBLE);
  }

  /** Undefined where the call is answered, or refused, at once. */
  #ringing(route: Fields, at: string): Ringing | undefined {
    const seconds = this.#read.number(route, 'ring', at, 0, MOST_RING) ?? 0;
    const early = this.#read.flag(route, 'early', at) ?? false;
    const earlyText = this.#text(route, 'earlyText', at, MOST_EARLY_TEXT);
    if (route['reject'] !== undefined) {
      const [name] = ['ring', 'early', 'earlyText'].filter((item) => route[item] !== undefined);
      if (name !== undefined)
        this.#read.problems.push(
          `${at}.${name}: a call that is refused does not ring; reject has "announcement"`,
        );
    }
    if (earlyText !== undefined && !early) this.#read.problems.push(`${at}.earlyText wants "early": true`);
    if (early && earlyText === undefined && seconds === 0) {
      this.#read.problems.push(
        `${at}.early wants "ring" or "earlyText": nothing would be heard before the answer`,
      );
    } else if (early && earlyText === undefined) {
      const silent = ['wait', ...PROGRAM_KINDS].find((kind) => route[kind] !== undefined);
      if (silent !== undefined)
        this.#read.problem(
          `${at}.early`,
          `wants "earlyText": "${silent}" says nothing that could be heard before the answer`,
        );
    }
    if (seconds === 0 && !early) return undefined;
    return stated({ seconds, early, earlyText });
  }

  #reject(value: Fields, at: string): RouteAnswer {
    if (value['status'] === undefined) this.#read.problems.push(`${at}.status is missing`);
    const status = this.#read.integer(value, 'status', at, 400, 699) ?? 0;
    const [cause, text] = [
      this.#read.integer(value, 'cause', at, 1, 127),
      this.#text(value, 'text', at, 200),
    ];
    const announcement = this.#announcement(value['announcement'], `${at}.announcement`);
    return stated({ kind: 'reject', status, cause, text, announcement });
  }

  #announcement(value: unknown, at: string): SpokenText | undefined {
    if (value === undefined || !this.#read.fields(value, at, ANNOUNCEMENT)) return undefined;
    return this.#spoken(value, at, MOST_EARLY_TEXT);
  }

  #headers(value: unknown, at: string): ReadonlyMap<string, Pattern> {
    const patterns = new Map<string, Pattern>();
    if (value === undefined) return patterns;
    if (!isFields(value) || Object.keys(value).length > MOST_HEADERS) {
      this.#read.problems.push(
        `${at} must be an object of at most ${MOST_HEADERS} patterns by the names of header fields`,
      );
      return patterns;
    }
    for (const name of Object.keys(value)) {
      const pattern = this.#pattern(value, name, at);
      if (!/^[\w.!%*+`'~-]{1,100}$/.test(name))
        this.#read.problems.push(`${at}: "${name}" is no name of a header field`);
      if (pattern !== undefined) patterns.set(name.toLowerCase(), pattern);
    }
    return patterns;
  }

  #pattern(fields: Fields, name: string, at: string): Pattern | undefined {
    const text = this.#text(fields, name, at, MOST_PATTERN);
    return text === undefined ? undefined : new Pattern(text);
  }

  #after(fields: Fields, at: string): 'stay' | 'hangup' | undefined {
    const value = fields['after'];
    if (value === undefined || value === 'stay' || value === 'hangup') return value;
    this.#read.problems.push(`${at}.after must be "stay" or "hangup"`);
    return undefined;
  }

  #text(fields: Fields, name: string, at: string, most: number): string | undefined {
    const value = fields[name];
    if (value === undefined) return undefined;
    const mayBeLines = name === 'text' || name === 'earlyText' || name === 'announce';
    // oxlint-disable-next-line no-control-regex -- control characters are what is being refused
    const isLine = typeof value === 'string' && (mayBeLines || !/[\x00-\x1f\x7f]/.test(value));
    if (isLine && value.trim() !== '' && value.length <= most) return value;
    this.#read.problems.push(`${at}.${name} must be a text of 1 to ${most} characters`);
    return undefined;
  }
}

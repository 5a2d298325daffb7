// Several servers with the same API: which of them gets the next request, and which are left alone for a
// while.
//
//   in use ──failed three times in a row──▶ left alone ──pause is over──▶ one request ──answered──▶ in use
//      └────────busy─────────────────────────▲                               └──failed──▶ twice the pause
//
// A server that refuses a request with 400, 401, 403 or 404 is left alone once another one has answered it.
// If all of them refuse it, the request is at fault.
//
// The server with the fewest requests gets the next one. A client stays with its server while that has few
// more than the others, because it may keep the client's voice in its memory. Where every server is left
// alone, the one whose pause ends first is asked: a lone server is always asked.
import type { Time } from '../../time.js';

export interface ApiServer {
  /** Such as `https://host/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** One request to a server, from its choice to its end. Exactly one of the methods is called, once. */
export interface Lease {
  readonly server: ApiServer;
  /** It has answered, also with a refusal. */
  answered(): void;
  /** It could not be reached, or broke off. */
  failed(): void;
  /** It has no room, perhaps for so many milliseconds; 0 if it said nothing. */
  busy(retryMs: number): void;
  /** The request was given up, which says nothing about the server. */
  givenUp(): void;
}

interface Member {
  readonly server: ApiServer;
  active: number;
  /** In a row. */
  failures: number;
  /** It is left alone until then. */
  untilMs: number;
  /** One request finds out whether it is back. */
  isTried: boolean;
}

const MOST_FAILURES = 3;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const BUSY_MS = 500;
const STAY = 4; // requests more than on the emptiest server with which a client stays where it is
const MOST_CLIENTS = 10_000; // whose servers are remembered

export class ServerPool {
  readonly #members: readonly Member[];
  readonly #time: Pick<Time, 'now'>;
  /** The server of each client, the least recent first. */
  readonly #clients = new Map<string, Member>();

  /** Servers with one key. */
  static of(baseUrls: readonly string[], apiKey: string | undefined, time: Pick<Time, 'now'>): ServerPool {
    return new ServerPool(
      baseUrls.map((baseUrl) => ({ baseUrl, apiKey })),
      time,
    );
  }

  constructor(servers: readonly ApiServer[], time: Pick<Time, 'now'>) {
    this.#time = time;
    this.#members = servers.map((server) => ({
      server,
      active: 0,
      failures: 0,
      untilMs: -Infinity,
      isTried: false,
    }));
  }

  get size(): number {
    return this.#members.length;
  }

  /** Servers that are not left alone. */
  get usable(): number {
    return this.#members.filter((one) => this.#isUsable(one)).length;
  }

  /**
   * A server for one request, if possible none of `avoided`. `client`: its requests should go to the same
   * server.
   */
  take(client?: string, avoided: ReadonlySet<ApiServer> = new Set()): Lease {
    const fresh = this.#members.filter(({ server }) => !avoided.has(server));
    const candidates = fresh.length === 0 ? this.#members : fresh;
    const usable = candidates.filter((one) => this.#isUsable(one));
    const chosen =
      usable.length > 0
        ? this.#emptiest(usable, client)
        : candidates.reduce((best, one) => (one.untilMs < best.untilMs ? one : best));
    if (client !== undefined) this.#remember(client, chosen);
    return this.#leaseOf(chosen);
  }

  /** Another server than these is not left alone. */
  hasOther(avoided: ReadonlySet<ApiServer>): boolean {
    return this.#members.some((one) => !avoided.has(one.server) && this.#isUsable(one));
  }

  /** It refuses what another server answers: it is left alone, and then one request tries it. */
  setAside(server: ApiServer): void {
    const member = this.#members.find((one) => one.server === server);
    if (member === undefined) return;
    member.failures = Math.max(member.failures, MOST_FAILURES);
    this.#pause(member, LONGEST_PAUSE_MS);
  }

  #isUsable({ untilMs, isTried }: Member): boolean {
    return untilMs <= this.#time.now() && !isTried;
  }

  #emptiest(usable: readonly Member[], client: string | undefined): Member {
    const emptiest = usable.reduce((best, one) => (one.active < best.active ? one : best));
    const before = client === undefined ? undefined : this.#clients.get(client);
    const stays = before !== undefined && usable.includes(before) && before.active <= emptiest.active + STAY;
    return stays ? before : emptiest;
  }

  #remember(client: string, member: Member): void {
    this.#clients.delete(client);
    this.#clients.set(client, member);
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > MOST_CLIENTS && oldest !== undefined) this.#clients.delete(oldest);
  }

  #leaseOf(member: Member): Lease {
    const isTrial = member.failures >= MOST_FAILURES;
    member.active++;
    if (isTrial) member.isTried = true;
    const over = (act: () => void) => {
      member.active--;
      if (isTrial) member.isTried = false;
      act();
    };
    return {
      server: member.server,
      answered: () => over(() => (member.failures = 0)),
      failed: () => over(() => this.#failed(member)),
      busy: (retryMs) => over(() => this.#pause(member, retryMs > 0 ? retryMs : BUSY_MS)),
      givenUp: () => over(() => undefined),
    };
  }

  #failed(member: Member): void {
    member.failures++;
    const more = member.failures - MOST_FAILURES;
    if (more >= 0) this.#pause(member, FIRST_PAUSE_MS * 2 ** more);
  }

  #pause(member: Member, ms: number): void {
    member.untilMs = this.#time.now() + Math.min(ms, LONGEST_PAUSE_MS);
  }
}

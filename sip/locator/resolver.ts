// What the locator asks of DNS. An empty list says that there are no such
// records; a rejection, that nobody could say.

export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly flags: string;
  readonly service: string;
  readonly replacement: string;
}

export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

export interface Answer<T> {
  readonly records: readonly T[];
  /** How long the answer is good; undefined if the source does not say. */
  readonly ttlSeconds?: number;
}

export interface Resolver {
  naptr(name: string): Promise<Answer<NaptrRecord>>;
  srv(name: string): Promise<Answer<SrvRecord>>;
  addresses(name: string, family: 4 | 6): Promise<Answer<string>>;
}

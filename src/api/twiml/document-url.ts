// URLs of documents, sounds and callbacks as they are written, shown, and sent. The fragment of a URL has the
// connection overrides of Twilio. It is neither sent nor signed:
//
//   https://bot.example.com/voice#rc=2&rp=5xx,ct&ct=2000&rt=5000&tt=10000
//
// https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides

export type RetryCause = '4xx' | '5xx' | 'ct' | 'rt';

export interface FetchLimits {
  /** Milliseconds until the connection, TLS included, is open. */
  readonly connectMs: number;
  /** Milliseconds from the open connection to the end of the answer. */
  readonly readMs: number;
  /** Milliseconds for all attempts and redirects together. */
  readonly totalMs: number;
  /** Attempts after the first. */
  readonly retries: number;
  readonly retryOn: ReadonlySet<RetryCause>;
}

const CAUSES: readonly RetryCause[] = ['4xx', '5xx', 'ct', 'rt'];
const LEAST_MS = 100;
const MOST_CONNECT_MS = 10_000;
const MOST_MS = 15_000;
const MOST_RETRIES = 5;
const USUAL: FetchLimits = {
  connectMs: 5000,
  readMs: MOST_MS,
  totalMs: MOST_MS,
  retries: 1,
  retryOn: new Set<RetryCause>(['ct']),
};
const MOST_SHOWN = 500; // characters

/** The limits of a request. Values of the fragment that are out of range are ignored. */
export function fetchLimits({ hash }: URL): FetchLimits {
  const overrides = new URLSearchParams(hash.slice(1));
  const number = (name: string, fallback: number, least: number, most: number) => {
    const raw = overrides.get(name) ?? '';
    const value = /^\d{1,5}$/.test(raw) ? Number(raw) : NaN;
    return value >= least && value <= most ? value : fallback;
  };
  return {
    connectMs: number('ct', USUAL.connectMs, LEAST_MS, MOST_CONNECT_MS),
    readMs: number('rt', USUAL.readMs, LEAST_MS, MOST_MS),
    totalMs: number('tt', USUAL.totalMs, LEAST_MS, MOST_MS),
    retries: number('rc', USUAL.retries, 0, MOST_RETRIES),
    retryOn: retryCauses(overrides.get('rp')),
  };
}

function retryCauses(raw: string | null): ReadonlySet<RetryCause> {
  const words = raw?.split(',') ?? [];
  if (words.includes('all')) return new Set(CAUSES);
  const known = CAUSES.filter((cause) => words.includes(cause));
  return known.length === 0 ? USUAL.retryOn : new Set(known);
}

/** Parameters of a query that have what a caller has said or pressed. */
const OF_CALLER = ['Digits', 'SpeechResult', 'StableSpeechResult', 'UnstableSpeechResult'];

/** Names of parameters by which applications protect their URLs: `token`, `apiKey`, `client_secret`. */
const SECRET = /token|secret|passw|key$|^(?:auth|sig|signature|pin)$/i;

/**
 * A URL in logs and events: without user, password and fragment, and without the caller's input and secrets
 * in its query.
 */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return url.slice(0, MOST_SHOWN);
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  shown.hash = '';
  // A change of the query writes all of it anew, so one without secrets stays as it is.
  const hidden = [...shown.searchParams.keys()].filter(
    (name) => OF_CALLER.includes(name) || SECRET.test(name),
  );
  for (const name of hidden) shown.searchParams.set(name, '*');
  return shown.href.slice(0, MOST_SHOWN);
}

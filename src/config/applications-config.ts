// Reads the variables of the operator's applications: who decides how incoming calls are answered, and who is
// sent the records of ended calls.
import type { ConfigReader } from './environment.js';
import type { Variable } from './variables.js';

export interface ApplicationsConfig {
  /** The application that decides how incoming calls are answered; undefined: the routes do. */
  readonly incoming: IncomingConfig | undefined;
  /** The URL that receives the records of calls. */
  readonly webhookUrl: string | undefined;
  /** Signs the requests to `webhookUrl` and to the URL of `incoming`. */
  readonly webhookSecret: string | undefined;
}

interface IncomingConfig {
  /** Undefined: applications decide that follow the events of the server. */
  readonly url: string | undefined;
  /** Name of their API key. */
  readonly decider: string | undefined;
  readonly timeoutMs: number;
  readonly fallback: 'routes' | 'reject';
}

type Reader = ConfigReader<Variable>;

const LEAST_SECRET = 16; // characters, as of a key

// The message does not repeat the value: its path may be a secret.
const WEBHOOK_URL = 'must be an address such as https://example.org/calls, without a user name or password';

export function readApplications(read: Reader): ApplicationsConfig {
  const config: ApplicationsConfig = {
    incoming: readIncoming(read),
    webhookUrl: read.raw('CALL_WEBHOOK_URL'),
    webhookSecret: read.raw('CALL_WEBHOOK_SECRET'),
  };
  checkWebhook(config, read);
  return config;
}

function readIncoming(read: Reader): IncomingConfig | undefined {
  const url = read.raw('CALL_INCOMING_URL');
  const timeoutMs = read.number('CALL_INCOMING_TIMEOUT', 3, 0.1, 30) * 1000;
  const fallback = read.choice('CALL_INCOMING_FALLBACK', ['routes', 'reject'], 'routes');
  const decider = read.raw('CALL_INCOMING_KEY');
  if (url === undefined && decider === undefined) return undefined;
  if (url !== undefined && decider !== undefined)
    read.problem('CALL_INCOMING_KEY', 'and CALL_INCOMING_URL are two ways to decide: set one of them');
  if (url !== undefined && !isWebhookUrl(url)) read.problem('CALL_INCOMING_URL', WEBHOOK_URL);
  return { url, decider, timeoutMs, fallback };
}

function checkWebhook(config: ApplicationsConfig, read: Reader): void {
  const { webhookUrl: url, webhookSecret: secret, incoming } = config;
  const isAsked = incoming?.url !== undefined;
  if (isAsked && secret === undefined)
    read.problem('CALL_INCOMING_URL', 'needs CALL_WEBHOOK_SECRET, which signs its requests');
  const isLone = url === undefined ? !isAsked && secret !== undefined : secret === undefined;
  if (isLone) read.problem('CALL_WEBHOOK_URL', 'and CALL_WEBHOOK_SECRET must be set together');
  if (url !== undefined && !isWebhookUrl(url)) read.problem('CALL_WEBHOOK_URL', WEBHOOK_URL);
  if (secret !== undefined && secret.length < LEAST_SECRET) {
    read.problem('CALL_WEBHOOK_SECRET', `must have at least ${LEAST_SECRET} characters`);
  }
}

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

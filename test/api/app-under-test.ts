// Opens the HTTP application with fakes behind it, with or without a socket.
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EventReplies } from '../../src/api/calls/event-replies.js';
import { TelephoneAccess } from '../../src/api/calls/telephone-access.js';
import { AccessGuard } from '../../src/api/http/access.js';
import { KeyRing } from '../../src/api/http/api-keys.js';
import { ClientSecrets } from '../../src/api/http/client-secrets.js';
import { type AppOptions, buildApp } from '../../src/api/app.js';
import { Admission } from '../../src/api/http/admission.js';
import { HttpServer, type HttpServerOptions } from '../../src/api/server.js';
import { AudioReplies } from '../../src/api/speech/audio-replies.js';
import type { MadeVoice, VoiceSource } from '../../src/api/speech/speech-source.js';
import type { NewVoice } from '../../src/voices/voice-store.js';
import { ParleyError } from '../../src/errors.js';
import { KeyTables } from '../../src/speaking/key-tables.js';
import { createLog } from '../../src/observe/log.js';
import { Metrics } from '../../src/observe/metrics.js';
import { systemTime } from '../../src/time.js';
import { FakePhone, FakeSounds } from './calls/fake-calls.js';
import { FakeRecordings } from './calls/fake-recordings.js';
import { FakeExchange } from './calls/fake-exchange.js';
import { FakeSpeech } from './fake-speech.js';

export const PAGE_FOLDER = fileURLToPath(new URL('../../../public', import.meta.url));

interface Fakes {
  readonly speech: FakeSpeech;
  readonly voices: FakeVoices;
  readonly calls: FakeExchange;
  readonly phone: FakePhone;
  readonly sounds: FakeSounds;
  readonly recordings: FakeRecordings;
  readonly metrics: Metrics;
  readonly logLines: string[];
}

function makeFakes(): Fakes {
  return {
    speech: new FakeSpeech(),
    voices: new FakeVoices(),
    calls: new FakeExchange(),
    phone: new FakePhone(),
    sounds: new FakeSounds(),
    recordings: new FakeRecordings(),
    metrics: new Metrics(),
    logLines: [],
  };
}

function optionsFor({ speech, voices, calls, recordings, metrics, logLines }: Fakes): AppOptions {
  let ids = 0;
  const log = createLog({
    level: 'debug',
    logText: false,
    destination: { write: (line) => void logLines.push(line) },
  });
  return {
    host: '127.0.0.1',
    corsOrigins: [],
    pageFolder: PAGE_FOLDER,
    speech,
    voices,
    limits: { maxTextLength: 4096, maxNewTokens: 2048, maxUploadBytes: 0 },
    tables: { keys: new KeyTables('/nonexistent/tables', log), identityOf: () => 'all' },
    models: { id: 'parley', strict: false },
    exposesMetrics: true,
    calls,
    recordings,
    metrics,
    health: () => ({
      engines: { flite: true },
      encoders: true,
      calls: calls.standing.size,
      maxCalls: 10,
    }),
    log,
    newId: () => String(++ids),
  };
}

/** Without a socket: requests are injected. */
export async function openApp(
  t: TestContext,
  { apiKeys = [], ...options }: Partial<AppOptions> & { apiKeys?: readonly string[] } = {},
  beforeRoutes: (app: ReturnType<typeof buildApp>) => void = () => undefined,
): Promise<Fakes & { app: ReturnType<typeof buildApp> }> {
  const fakes = makeFakes();
  const replies = new AudioReplies({ maxReplies: 4, stallMs: 1000, requestTimeoutMs: 10_000 });
  const all = { ...optionsFor(fakes), ...options };
  const secrets = new ClientSecrets({ time: all.time ?? systemTime });
  const keys = new KeyRing({ keys: apiKeys });
  const admission = new Admission(new AccessGuard({ ...all, keys, secrets }));
  const phone = new TelephoneAccess(systemTime, { calls: fakes.phone, sounds: fakes.sounds });
  const app = buildApp(all, { replies, events: new EventReplies(systemTime), phone, admission, secrets });
  t.after(() => app.close());
  beforeRoutes(app);
  await app.ready();
  return { ...fakes, app };
}

/** On a port of loopback that the system chooses. */
export async function openServer(
  t: TestContext,
  options: Partial<HttpServerOptions> = {},
): Promise<Fakes & { server: HttpServer; url: string }> {
  const fakes = makeFakes();
  const phone = { calls: fakes.phone, sounds: fakes.sounds };
  const server = new HttpServer({ ...optionsFor(fakes), phone, port: 0, apiKeys: [], ...options });
  t.after(() => server.close());
  return { ...fakes, server, url: await server.listen() };
}

/** The error object of an injected or fetched answer. */
export function errorIn(body: string): {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
} {
  const parsed = JSON.parse(body) as { error: { message: string; type: string; param: null; code: null } };
  return parsed.error;
}

/** Keeps stored voices in a list. */
class FakeVoices implements VoiceSource {
  readonly made: MadeVoice[] = [];
  /** The sample of each, in order. */
  readonly samples: (Uint8Array | undefined)[] = [];
  /** No engine can speak with such a voice. */
  cannot: 'sample' | 'prompt' | undefined;

  list(): readonly MadeVoice[] {
    return this.made;
  }

  find(idOrName: string): MadeVoice | undefined {
    return this.made.find(({ id, name }) => id === idOrName || name === idOrName);
  }

  make(voice: NewVoice, sample: Uint8Array | undefined): Promise<MadeVoice> {
    this.samples.push(sample);
    const made = { ...voice, id: `voice_${this.samples.length}`, createdAt: 1_700_000_000 };
    this.made.push(made);
    return Promise.resolve(made);
  }

  remove(idOrName: string): Promise<boolean> {
    const voice = this.find(idOrName);
    if (voice === undefined) return Promise.resolve(false);
    this.made.splice(this.made.indexOf(voice), 1);
    return Promise.resolve(true);
  }

  checkAble(kind: 'sample' | 'prompt', _language: string | undefined, field: string): void {
    if (kind !== this.cannot) return;
    throw new ParleyError('CAPABILITY_MISSING', `no engine of this server can: flite cannot`, { field });
  }
}

// Browsers' telephones call the server: SIP over WebSocket (RFC 7118), ICE and
// DTLS-SRTP, with SIP.js in a real Chromium.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { PhoneCallEnd, PhoneCallView } from '../../src/call/phone-calls.js';
import { makePair } from '../api/http/tls-files.js';
import { until } from '../fakes/until.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';
import { kept } from './telephone/kept.js';
import { ScratchFolder } from './telephone/program.js';
import { TelephoneServer } from './telephone/telephone-server.js';

// A telephone in a browser: a real Chromium runs SIP.js, as its package ships it for pages, on a page of
// another origin.

const LIBRARY = dirname(fileURLToPath(import.meta.resolve('sip.js')));

// Chromium's fake microphone beeps once a second; its permission prompt must be accepted automatically.
const PHONE_ARGS = [
  ...CHROMIUM_ARGS,
  '--autoplay-policy=no-user-gesture-required',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
];

const PAGE = `<!doctype html><title>telephone</title><audio id="far" autoplay></audio>
<script type="module">
import { Web } from '/sip.js/index.js';

window.openPhone = async (server, { authorizationUsername, authorizationPassword }) => {
  const told = [];
  const user = new Web.SimpleUser(server, {
    aor: 'sip:alice@example.org',
    reconnectionDelay: 0,
    media: { remote: { audio: document.getElementById('far') } },
    delegate: {
      onCallAnswered: () => told.push('answered'),
      onCallHangup: () => told.push('hung up'),
      onServerDisconnect: () => told.push('disconnected'),
      onServerConnect: () => told.push('connected'),
    },
    userAgentOptions: {
      logLevel: 'error',
      authorizationUsername,
      authorizationPassword,
      sessionDescriptionHandlerFactoryOptions: { peerConnectionConfiguration: { iceServers: [] } },
    },
  });
  const connection = () => user.session.sessionDescriptionHandler.peerConnection;
  window.phone = {
    user,
    told,
    statuses: [],
    connection,
    offered: 0,
    call: async (to) => {
      const onReject = ({ message }) => window.phone.statuses.push(message.statusCode);
      await user.call(to, {}, { requestDelegate: { onReject } });
      user.session.delegate = { ...user.session.delegate, onInvite: () => window.phone.offered++ };
    },
    press: (keys) => user.session.sessionDescriptionHandler.sendDtmf(keys, { duration: 100, interToneGap: 70 }),
    loseServer: () => user.sessionManager.userAgent.transport.ws.close(),
    heard: async () => {
      const reports = [...(await connection().getStats()).values()];
      const inbound = reports.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio') ?? {};
      const { packetsReceived = 0, packetsLost = 0, totalAudioEnergy = 0, codecId } = inbound;
      const codec = reports.find(({ id }) => id === codecId)?.mimeType;
      return { packetsReceived, packetsLost, totalAudioEnergy, codec };
    },
  };
  await user.connect();
};
window.isReady = true;
</script>`;

interface PhoneHeard {
  readonly packetsReceived: number;
  readonly packetsLost: number;
  readonly totalAudioEnergy: number;
  readonly codec?: string;
}

interface Credentials {
  readonly authorizationUsername: string;
  readonly authorizationPassword: string;
}

interface PhoneOptions {
  readonly credentials?: Credentials;
}

/** A browser, and the site whose page has the telephone. */
class PhoneSite {
  readonly browser: Browser;
  readonly origin: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(browser: Browser, server: ReturnType<typeof createServer>) {
    this.browser = browser;
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(): Promise<PhoneSite> {
    const server = createServer(({ url = '/' }, reply) => serve(url, reply)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const browser = await chromium.launch({ executablePath: installedChromium(), args: PHONE_ARGS });
    return new PhoneSite(browser, server);
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function serve(url: string, reply: ServerResponse): void {
  const module = /^\/sip\.js(\/[\w./-]+\.js)$/.exec(url)?.[1];
  if (module !== undefined) {
    reply.setHeader('content-type', 'text/javascript');
    reply.end(readFileSync(join(LIBRARY, module)));
  } else reply.setHeader('content-type', 'text/html').end(PAGE);
}

class BrowserPhone {
  readonly page: Page;
  readonly #context: BrowserContext;

  private constructor(page: Page, context: BrowserContext) {
    this.page = page;
    this.#context = context;
  }

  /** Connected to the server under this URL; rejects where that does not let the page in. */
  static async open(site: PhoneSite, server: string, options: PhoneOptions = {}): Promise<BrowserPhone> {
    const { credentials = {} } = options;
    const context = await site.browser.newContext({ ignoreHTTPSErrors: true, permissions: ['microphone'] });
    try {
      const page = await context.newPage();
      await page.goto(site.origin);
      await page.waitForFunction('window.isReady');
      const socket = JSON.stringify(`${server.replace(/^http/, 'ws')}/sip`);
      await page.evaluate(`openPhone(${socket}, ${JSON.stringify(credentials)})`);
      return new BrowserPhone(page, context);
    } catch (error) {
      await context.close();
      throw error;
    }
  }

  call(to = 'sip:100@127.0.0.1'): Promise<void> {
    return this.do(`call(${JSON.stringify(to)})`);
  }

  heard(): Promise<PhoneHeard> {
    return this.do('heard()');
  }

  /** Events that SIP.js reported to the page, in order. */
  told(): Promise<string[]> {
    return this.do('told');
  }

  /** Final statuses of INVITEs that were refused. */
  statuses(): Promise<number[]> {
    return this.do('statuses');
  }

  /** Something of the page's `phone`. */
  do<T>(what: string): Promise<T> {
    return this.page.evaluate<T>(`phone.${what}`);
  }

  /** Without a word from the page. */
  close(): Promise<void> {
    return this.#context.close();
  }
}

const STORY = 'Your order left our house in the evening, and it is on its way. It will be with you tomorrow.';

const ALICE = { authorizationUsername: 'alice', authorizationPassword: 'spades' };
const REFRESH_S = 90; // the least that RFC 4028 has

let site: PhoneSite;
let server: TelephoneServer;
/** HTTPS, keys for HTTP, and passwords for telephones. */
let guarded: TelephoneServer;
let folder: ScratchFolder;
// These take 45 s and 32 s beside the others; the last tests wait for them.
let lasting: Talking;
let gone: Promise<PhoneCallEnd | undefined>;

before(async () => {
  site = await PhoneSite.open();
  server = await TelephoneServer.start({ CORS_ORIGINS: site.origin });
  folder = new ScratchFolder();
  const { cert, key } = await makePair();
  writeFileSync(folder.at('cert'), cert);
  writeFileSync(folder.at('key'), key);
  const environment = {
    CORS_ORIGINS: site.origin,
    TLS_CERT: folder.at('cert'),
    TLS_KEY: folder.at('key'),
    API_KEYS: 'no-telephone-has-it',
    SIP_CHALLENGE: '127.0.0.0/8',
    SIP_SESSION_EXPIRES: `${REFRESH_S}`,
    SIP_SILENCE_LIMIT: '0',
  };
  guarded = await TelephoneServer.start(environment, { users: { alice: ALICE.authorizationPassword } });
  lasting = await begin(guarded, { credentials: ALICE });
  gone = leave(await begin());
});
after(async () => {
  await site.close();
  await server.close();
  await guarded.close();
  folder.remove();
});

interface Talking {
  readonly phone: BrowserPhone;
  readonly id: string;
  readonly view: () => PhoneCallView;
}

async function begin(on = server, options: PhoneOptions = {}): Promise<Talking> {
  const before = new Set(on.telephone.list().map(({ id }) => id));
  const phone = await BrowserPhone.open(site, on.server.url, options);
  await phone.call();
  const found = () => on.telephone.list().find(({ id, state }) => !before.has(id) && state === 'connected');
  await until(() => found() !== undefined);
  const { id } = found() as PhoneCallView;
  return { phone, id, view: () => on.telephone.get(id) };
}

async function calling(t: TestContext, on = server, options: PhoneOptions = {}): Promise<Talking> {
  const talking = await begin(on, options);
  await kept(t, talking.phone);
  return talking;
}

/** The page is gone without a word; resolves with how its call ended. */
async function leave({ phone, id }: Talking): Promise<PhoneCallEnd | undefined> {
  const ended = new Promise<PhoneCallEnd | undefined>((resolve) => {
    server.telephone.follow(id, 0, (event) => {
      if (event.type === 'state' && event.state === 'ended') resolve(event.end);
    });
  });
  await phone.page.close({ runBeforeUnload: false });
  return ended;
}

/** Resolves when sound has come in since. */
async function hears({ phone }: Pick<Talking, 'phone'>): Promise<void> {
  const before = await phone.heard();
  await until(async () => {
    const now = await phone.heard();
    return (
      now.packetsReceived > before.packetsReceived + 50 &&
      now.totalAudioEnergy > before.totalAudioEnergy + 0.001
    );
  });
}

test('a browser that calls hears the greeting', async (t) => {
  const talking = await calling(t);
  await hears(talking);
  const { packetsLost, codec } = await talking.phone.heard();
  assert.deepEqual({ packetsLost, codec }, { packetsLost: 0, codec: 'audio/G722' });
  const view = talking.view();
  assert.deepEqual([view.codec, view.srtp, view.to], ['G722', 'dtls', 'sip:100@127.0.0.1']);
});

test('keys of a browser are digits of the call, in RTP and in INFO', async (t) => {
  const { phone, view } = await calling(t);
  assert.equal(await phone.do('press("42#")'), true);
  await until(() => view().digits.length === 3);
  await phone.do('user.sendDTMF("7")');
  await until(() => view().digits.length === 4);
  assert.equal(
    view()
      .digits.map(({ digit }) => digit)
      .join(''),
    '42#7',
  );
});

test('an application holds a browser and resumes', async (t) => {
  const talking = await calling(t);
  const { phone, id, view } = talking;
  const direction = () => phone.do('connection().getTransceivers()[0].currentDirection');
  await hears(talking);
  await server.telephone.hold(id, true);
  assert.deepEqual([view().state, await direction()], ['held', 'recvonly']);
  await server.telephone.hold(id, false);
  assert.deepEqual([view().state, await direction()], ['connected', 'sendrecv']);
  server.telephone.say(id, { text: 'There you are again, and here is some more.' });
  await hears(talking);
});

test('a browser holds and resumes, and hears the rest then', async (t) => {
  const talking = await calling(t);
  const { phone, id, view } = talking;
  server.telephone.say(id, { text: STORY });
  await hears(talking);
  await phone.do('user.hold()');
  await until(() => view().state === 'held');
  // Until then SIP.js takes no other.
  await until(async () => !(await phone.do('user.session.pendingReinvite')));
  await phone.do('user.unhold()');
  await until(() => view().state === 'connected');
  await hears(talking);
});

test('a browser that we hang up on is told so', async (t) => {
  const { phone, id, view } = await calling(t);
  await server.telephone.hangUp(id);
  await until(async () => (await phone.told()).includes('hung up'));
  assert.equal(view().end?.reason, 'we hung up');
  const counted = /^parley_sip_calls_total\{[^}]*end="we hung up"[^}]*\} (\d+)$/m;
  assert.equal(counted.exec(await server.server.metrics.exposition())?.[1], '1');
});

test('a browser that hangs up ends the call', async (t) => {
  const { phone, view } = await calling(t);
  await phone.do('user.hangup()');
  await until(() => view().state === 'ended');
  assert.deepEqual(view().end, { reason: 'peer hung up' });
});

test('a page that is loaded again takes its leave', async (t) => {
  const { phone, view } = await calling(t);
  await phone.page.reload();
  await until(() => view().state === 'ended');
  assert.deepEqual(view().end, { reason: 'peer hung up' });
});

test('a browser that has lost its server gives its call up, and may call again', async (t) => {
  const { phone, view } = await calling(t);
  await phone.do('loseServer()');
  await until(() => view().state === 'ended');
  assert.match(view().end?.detail ?? '', /closed its media/);
  await until(async () => (await phone.told()).filter((one) => one === 'connected').length === 2);
  await phone.call();
  await until(() => server.telephone.list().some(({ state }) => state === 'connected'));
});

test('over wss a browser with the right password comes in, also where HTTP wants a key', async (t) => {
  const { phone, view } = await calling(t, guarded, { credentials: ALICE });
  await hears({ phone });
  assert.equal(view().srtp, 'dtls');
  await guarded.telephone.hangUp(view().id);
  await until(async () => (await phone.told()).includes('hung up'));
});

test('a browser with a wrong password, or none, does not come in', async (t) => {
  const known = guarded.telephone.list().length;
  for (const credentials of [undefined, { ...ALICE, authorizationPassword: 'hearts' }]) {
    const options = credentials === undefined ? {} : { credentials };
    const phone = await kept(t, BrowserPhone.open(site, guarded.server.url, options));
    await phone.call();
    await until(async () => (await phone.statuses()).length > 0);
    assert.deepEqual(await phone.statuses(), [401]);
  }
  assert.equal(guarded.telephone.list().length, known);
});

test('a page of a site that is not allowed does not come in', async () => {
  const elsewhere = await PhoneSite.open();
  try {
    await assert.rejects(BrowserPhone.open(elsewhere, server.server.url), /WebSocket closed/);
  } finally {
    await elsewhere.close();
  }
});

test('a page that is gone without a word keeps its call for 32 s', async () => {
  const end = await gone;
  assert.deepEqual(end, { reason: 'failed', detail: 'the far end cannot be reached any more' });
});

test('a session with a browser is refreshed, and goes on', async () => {
  await lasting.phone.page.waitForFunction('phone.offered > 0', undefined, {
    timeout: 1000 * REFRESH_S,
    polling: 100,
  });
  assert.equal(guarded.telephone.get(lasting.id).state, 'connected');
  await guarded.telephone.hangUp(lasting.id);
  await until(async () => (await lasting.phone.told()).includes('hung up'));
});

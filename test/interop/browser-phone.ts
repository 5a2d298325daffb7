// A telephone in a browser: SIP.js as its own package has it for pages, run by
// a real Chromium on a page of somebody else's.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

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

export interface PhoneOptions {
  readonly credentials?: Credentials;
}

/** A browser, and the site whose page has the telephone. */
export class PhoneSite {
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

export class BrowserPhone {
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

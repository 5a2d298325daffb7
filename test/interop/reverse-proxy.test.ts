// The whole server under a path of nginx and of Caddy, with the very lines that operations.md gives for them:
// the page, WHIP, a WebSocket, a stream of events, a large upload, and the addresses of clients.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { type Server, startServer } from '../../src/main.js';
import { SocketClient } from '../api/http/socket-client.js';
import { until } from '../fakes/until.js';
import { WeriftClient } from '../signaling/werift-client.js';
import { freePorts } from '../fakes/free-port.js';
import { Program, ScratchFolder } from './telephone/program.js';

const PAGE = join(import.meta.dirname, '..', '..', '..', 'public', 'docs', 'operations.md');
const NGINX = process.env['NGINX_PATH'] ?? '/usr/sbin/nginx'; // Debian's, as in setup.sh
const DOCUMENTED = '127.0.0.1:8080';
const LIMIT_MS = 20_000;
const REQUESTS_A_MINUTE = 40;

/** The lines of the page for this proxy, with the address of the server under test. */
function linesFor(beginning: string, server: string): string {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```\w*\n([^]*?)^```$/gm);
  const [, lines = ''] = [...blocks].find(([, text]) => text?.startsWith(beginning)) ?? [];
  assert.equal(lines.split(DOCUMENTED).length, 2, `the page has no lines "${beginning}"`);
  return lines.replace(DOCUMENTED, new URL(server).host);
}

interface Running {
  readonly url: string;
  close(): Promise<void>;
}

async function running(program: Program, port: number, folder: ScratchFolder): Promise<Running> {
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    await program.close();
    folder.remove();
  };
  try {
    await until(async () => {
      if (!program.isRunning) throw new Error(program.tail());
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { url, close };
}

async function openNginx(server: string): Promise<Running> {
  const [port, folder] = [await freePorts(), new ScratchFolder()];
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const folders = temporary.map((name) => `${name}_temp_path ${folder.at(name)};`).join('\n');
  const site = `server { listen 127.0.0.1:${port};\n${linesFor('location /voice/', server)} }`;
  const text = `daemon off; master_process off; pid ${folder.at('pid')};
events { worker_connections 256; }
http { access_log off;\n${folders}\n${site} }`;
  writeFileSync(folder.at('nginx.conf'), text);
  const args = ['-p', folder.at(''), '-c', folder.at('nginx.conf'), '-e', 'stderr'];
  return running(new Program(NGINX, args), port, folder);
}

async function openCaddy(server: string): Promise<Running> {
  const [port, folder] = [await freePorts(), new ScratchFolder()];
  const site = `http://127.0.0.1:${port} {\nbind 127.0.0.1\n${linesFor('handle_path', server)}}`;
  writeFileSync(folder.at('Caddyfile'), `{\nadmin off\nauto_https off\n}\n${site}\n`);
  const args = ['run', '--config', folder.at('Caddyfile'), '--adapter', 'caddyfile'];
  const env = { HOME: folder.at(''), XDG_DATA_HOME: folder.at('data'), XDG_CONFIG_HOME: folder.at('config') };
  return running(new Program('caddy', args, { env }), port, folder);
}

/** The status of a GET from this address of the loopback network, with an address that the client made up. */
function statusFor(url: string, localAddress: string, stated: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': stated, 'x-real-ip': stated, forwarded: `for=${stated}` };
    const asked = request(url, { localAddress, headers, agent: false, timeout: LIMIT_MS }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    });
    asked.once('timeout', () => asked.destroy(new Error('no answer')));
    asked.once('error', reject).end();
  });
}

/** Silence, so that no recogniser is asked. */
function silentWav(bytes: number): Buffer {
  const head = Buffer.from(
    'RIFF....WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data....',
    'latin1',
  );
  head.writeUInt32LE(bytes + 36, 4);
  head.writeUInt32LE(bytes, 40);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

for (const [name, open] of [
  ['nginx', openNginx],
  ['Caddy', openCaddy],
] as const) {
  void suite(`behind ${name}`, () => {
    let [server, proxy]: [Server?, Running?] = [];
    let at = '';

    before(async () => {
      const environment = {
        PORT: '0',
        SIP_ENABLED: '0',
        LOG_LEVEL: 'silent',
        ENGINE: 'flite',
        ICE_HOST_ADDRESSES: '127.0.0.1',
        ASR_BASE_URL: 'http://127.0.0.1:9/v1',
        ASR_MODEL: 'whisper-1',
        RATE_LIMIT: `${REQUESTS_A_MINUTE}`,
      };
      server = await startServer(readConfig(environment));
      proxy = await open(server.url);
      at = `${proxy.url}/voice`;
    });
    after(async () => {
      await proxy?.close();
      await server?.close();
    });

    void test('the page and the document of the API know the path', async () => {
      const page = await fetch(`${at}/`);
      assert.equal(page.status, 200);
      assert.match(await page.text(), /<h1/);
      const document = (await (await fetch(`${at}/openapi.json`)).json()) as { servers: { url: string }[] };
      assert.deepEqual(document.servers, [{ url: '/voice' }]);
    });

    void test('a call by WHIP is connected, and ends at its Location', async (t) => {
      const browser = new WeriftClient();
      t.after(() => browser.close());
      browser.connection.getTransceivers()[0]?.setDirection('sendonly');
      const headers = { 'content-type': 'application/sdp' };
      const body = await browser.offer();
      const answer = await fetch(`${at}/whip`, { method: 'POST', headers, body });
      assert.equal(answer.status, 201);
      const location = answer.headers.get('location') ?? '';
      assert.match(location, /^\/voice\/whip\//);
      await browser.accept(await answer.text());
      await browser.until(() => browser.connection.connectionState === 'connected', 'connection');
      const ended = await fetch(new URL(location, at), { method: 'DELETE' });
      assert.equal(ended.status, 204);
      assert.equal(server?.switchboard.size, 0);
    });

    void test('a stream of events tells of a WebSocket call at once', async (t) => {
      const events = await fetch(`${at}/v1/events`, { signal: AbortSignal.timeout(LIMIT_MS) });
      assert.match(events.headers.get('content-type') ?? '', /^text\/event-stream/);
      const socket = await SocketClient.open(t, `${at}/v1/relay`);
      await until(() => socket.received.some(({ type }) => type === 'setup'));
      let told = '';
      for await (const bytes of events.body ?? []) {
        told += Buffer.from(bytes).toString();
        if (told.includes('event: call.started')) break;
      }
      assert.match(told, /event: call\.started/);
    });

    void test('an upload of 20 MB arrives whole', async () => {
      const form = new FormData();
      form.set('model', 'whisper-1');
      form.set('file', new Blob([silentWav(20_000_000)]), 'sound.wav');
      const answer = await fetch(`${at}/v1/audio/transcriptions`, { method: 'POST', body: form });
      assert.equal(answer.status, 200, await answer.clone().text());
      const { text, usage } = (await answer.json()) as { text: string; usage: object };
      assert.deepEqual([text, usage], ['', { type: 'duration', seconds: 625 }]);
    });

    void test('each client has limits of its own, whichever address it states', async () => {
      const models = `${at}/v1/models`;
      const statuses: (number | undefined)[] = [];
      for (let n = 0; n <= REQUESTS_A_MINUTE; n++)
        statuses.push(await statusFor(models, '127.0.0.2', `192.0.2.${n}`));
      assert.deepEqual(statuses.slice(0, 3), [200, 200, 200]);
      assert.equal(statuses.at(-1), 429);
      assert.equal(await statusFor(models, '127.0.0.3', '192.0.2.1'), 200);
    });
  });
}

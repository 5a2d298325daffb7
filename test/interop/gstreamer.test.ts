// The whole server with webrtcbin of GStreamer 1.22 at the other end: it offers whole, without trickling.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config/config.js';
import { startServer, type Server } from '../../src/main.js';
import { until } from '../fakes/until.js';

const PYTHON = process.env['PYTHON_PATH'] ?? '/usr/bin/python3'; // Debian's, as in setup.sh
const SCRIPT = fileURLToPath(new URL('../../../test/interop/gstreamer-session.py', import.meta.url));
const LIMIT_MS = 60_000;
const TEXT = 'Good morning, and thank you for calling. Your order left our house, and it is on its way.';

let server: Server;
before(async () => {
  server = await startServer(
    readConfig({ PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' }),
  );
});
after(() => server.close());

interface Report {
  readonly resource?: string;
  readonly audible: number;
  readonly sent?: number;
  readonly reported?: string;
  readonly statuses: readonly number[];
}

/** Runs a session to its end, and calls `connected` with the id of its call meanwhile. */
async function session(use: 'listen' | 'publish', connected: (id: string) => void): Promise<Report> {
  const path = use === 'listen' ? '/whep' : '/whip';
  const script = spawn(PYTHON, [SCRIPT, use, `${server.url}${path}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
  });
  let last: Report | undefined;
  for await (const line of createInterface({ input: script.stdout })) {
    last = JSON.parse(line) as Report;
    const id = last.resource?.split('/').at(-1);
    if (id === undefined) continue;
    await until(() => server.switchboard.get(id) !== undefined);
    connected(id);
  }
  assert.ok(last !== undefined);
  return last;
}

test('webrtcbin listens: it hears a second of speech, and its DELETE frees the call', async () => {
  const report = await session('listen', (id) => void server.switchboard.get(id)?.speak(TEXT));
  assert.ok(report.audible >= 50, JSON.stringify(report));
  assert.deepEqual(report.statuses, [201, 204]);
  await until(() => server.switchboard.size === 0);
});

test('webrtcbin publishes: a second of its sound is reported, and its DELETE frees the call', async () => {
  const report = await session('publish', () => undefined);
  assert.ok((report.sent ?? 0) >= 50, JSON.stringify(report));
  assert.match(report.reported ?? '', / packets-lost=\(gint64\)0,/);
  assert.deepEqual(report.statuses, [201, 204]);
  await until(() => server.switchboard.size === 0);
});

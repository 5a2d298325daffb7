// The whole server with aiortc 1.4.0 at the other end, which offers the form of SCTP of before RFC 8841.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig } from '../../src/config/config.js';
import { startServer, type Server } from '../../src/main.js';

const PYTHON = process.env['PYTHON_PATH'] ?? '/usr/bin/python3'; // Debian's, as in setup.sh
const SCRIPT = fileURLToPath(new URL('../../../test/interop/aiortc-call.py', import.meta.url));
const TEXT = 'Good morning, and thank you for calling.';
const LIMIT_MS = 60_000;

let server: Server;
before(async () => {
  server = await startServer(
    readConfig({ PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' }),
  );
});
after(() => server.close());

for (const [codec, rate] of [
  ['opus', 48_000],
  ['pcmu', 8000],
] as const) {
  test(`aiortc places a call, answers ready at once and hears the text in ${codec}`, async () => {
    const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, server.url, codec, TEXT], {
      timeout: LIMIT_MS,
    });
    const { offered, location, frames, peak, ...said } = JSON.parse(stdout) as Record<string, unknown>;
    assert.match(String(offered), /m=application \d+ DTLS\/SCTP 5000$/);
    assert.match(String(location), /^\/v1\/realtime\/calls\//);
    assert.deepEqual(said, { first: ['ready'], spoken: TEXT, trouble: [], rate });
    assert.ok(Number(frames) > 50, `${String(frames)} frames`);
    assert.ok(Number(peak) > 1000, `peak ${String(peak)}`);
  });
}

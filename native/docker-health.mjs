// Asks the server of this container whether it can speak, and ends with 0 or 1, as Docker's HEALTHCHECK wants it.
//
//   RESTART_AFTER=60    seconds (0, never, by default) that the engine of the default voice, or every one, may be unable to
//                       speak before the server is told to end
//
// A server with API keys tells a stranger no more than its status. So the check carries a key: the one that is named health
// in API_KEYS or API_KEYS_FILE, otherwise the first one.
//
// Docker marks a container that is not well and leaves it running; only one that ends is started again (restart:
// unless-stopped). So a server that lost its GPU and does not get it back has to end, and this sees to it: calls that
// still speak get DRAIN_TIMEOUT, as at any SIGTERM. A server that is loading, draining or does not answer is let alone.
//
//   node native/docker-health.mjs [process]    the process that is told, by default the first of the container
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIMIT_MS = 4000; // less than HEALTHCHECK's own, which would leave no word of why
const SPEECHLESS = ['engine down', 'no engine', 'no encoder'];
/** Since when it is so, in ms since 1970: from one run of this to the next. */
const NOTE = join(tmpdir(), 'parley-speechless');

/** Into Docker's record of its checks: `docker inspect`. */
function tell(line) {
  process.stdout.write(`${line}\n`);
}

function setting(name, otherwise) {
  return process.env[name]?.trim() || otherwise;
}

/** The address of the server, seen from within the container. */
function address() {
  const host = setting('HOST', '127.0.0.1');
  const loopback = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: loopback[host] ?? host, port: Number(setting('PORT', '8080')) };
}

/** Keys of the server, each alone or behind its name and a space; none where the file of keys cannot be read. */
function keys() {
  const listed = setting('API_KEYS', '').split(',');
  const file = setting('API_KEYS_FILE');
  if (file === undefined) return listed;
  try {
    return [
      ...listed,
      ...readFileSync(file, 'utf8')
        .replace(/^\uFEFF/, '')
        .split(/\r?\n/),
    ];
  } catch (error) {
    tell(`API_KEYS_FILE cannot be read: ${error.code}`);
    return listed;
  }
}

/** The field that carries a key; none where the server has no keys. */
function authorization() {
  const entries = keys()
    .map((entry) => entry.trim().split(/[ \t]+/))
    .filter(([first]) => first !== '' && !first.startsWith('#'));
  const entry = entries.find(([name, key]) => name === 'health' && key !== undefined) ?? entries[0];
  return entry === undefined ? {} : { authorization: `Bearer ${entry.at(-1)}` };
}

/** What /health tells; rejects where nothing answers. */
function health() {
  const request = setting('TLS_CERT') === undefined ? overHttp : overHttps;
  // Its certificate is for the names that others know it by; here it is known by its address.
  const options = {
    ...address(),
    path: '/health',
    headers: authorization(),
    rejectUnauthorized: false,
    signal: AbortSignal.timeout(LIMIT_MS),
  };
  return new Promise((resolve, reject) => {
    const asked = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => (body += text));
      response.on('error', reject).on('end', () => {
        try {
          resolve({ code: response.statusCode, ...JSON.parse(body) });
        } catch {
          reject(new Error(`/health answered ${response.statusCode} with what is no JSON`));
        }
      });
    });
    asked.on('error', reject).end();
  });
}

/** Seconds for which it has been so, as far as is known. */
function speechlessSeconds(uptimeSeconds) {
  if (!Number.isFinite(uptimeSeconds)) {
    throw new Error(
      '/health told no uptimeSeconds, which RESTART_AFTER needs: is the API key of this check wrong?',
    );
  }
  const now = Date.now();
  let since = now;
  try {
    since = Number(readFileSync(NOTE, 'utf8')) || now;
  } catch {
    writeFileSync(NOTE, String(now));
  }
  // A note that is older than the server is of the one before it.
  return Math.min((now - since) / 1000, uptimeSeconds);
}

async function main() {
  const restartAfter = Number(setting('RESTART_AFTER', '0'));
  if (!(restartAfter >= 0))
    throw new Error(`RESTART_AFTER must be seconds, not "${process.env.RESTART_AFTER}"`);
  const { code, status, reason, uptimeSeconds } = await health();
  tell([status, reason].filter(Boolean).join(': '));
  if (!SPEECHLESS.includes(status)) rmSync(NOTE, { force: true });
  else if (restartAfter > 0 && speechlessSeconds(uptimeSeconds) >= restartAfter) {
    tell(`so for ${restartAfter} s (RESTART_AFTER): the server is told to end`);
    process.kill(Number(process.argv[2] ?? 1), 'SIGTERM');
  }
  return code === 200 ? 0 : 1;
}

// exitCode, not exit(): what was said has to be written first.
process.exitCode = await main().catch((error) => {
  tell(error.message);
  return 1;
});

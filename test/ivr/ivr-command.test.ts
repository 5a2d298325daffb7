// `parley ivr check`: what it shows of a file or a document, and what it says about one with mistakes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ivrCommand } from '../../src/ivr-command.js';
import { temporaryFolder } from '../api/http/tls-files.js';

const NOTE =
  'FILE has call programs as in IVR_FILE, or a TwiML document. A document at a URL is fetched with POST, or with GET.\n';

async function ivr(...args: string[]) {
  let [out, err] = ['', ''];
  const status = await ivrCommand(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { status, out, err };
}

test('a file of programs is shown as one tree for each program', async (t) => {
  const path = join(temporaryFolder(t), 'menus.json');
  const programs = { main: [{ say: 'Welcome.' }, { redirect: 'billing' }], billing: [{ hangup: {} }] };
  writeFileSync(path, JSON.stringify({ programs }));
  assert.deepEqual(await ivr('check', path), {
    status: 0,
    out: 'main\n├─ say "Welcome."\n└─ go to billing\n\nbilling\n└─ hang up\n',
    err: '',
  });
});

test('a file with mistakes is refused with all of them and status 1', async (t) => {
  const path = join(temporaryFolder(t), 'menus.json');
  writeFileSync(path, '{"programs": {"main": [{"say": ""}, {"redirect": "sales"}]}}');
  assert.deepEqual(await ivr('check', path), {
    status: 1,
    out: '',
    err: `parley: (${path}) is not usable:
- programs.main[0].say.text must be a text of 1 to 5000 characters
- programs.main[1].redirect.to must be the name of a program of the file, and "sales" is none
`,
  });
  const missing = await ivr('check', `${path}.none`);
  assert.deepEqual(missing, { status: 1, out: '', err: `parley: (${path}.none) cannot be read: ENOENT\n` });
});

const MENU = `<Response>
  <Gather input="dtmf speech" numDigits="1" action="/chosen"><Say>Press 1.</Say></Gather>
  <Pay/>
  <Redirect/>
</Response>`;

function menuTree(name: string, base: string): string {
  return `${name}
├─ gather 1 key or speech, for 5 s
│  ├─ say "Press 1."
│  ├─ any input: go to POST ${base}/chosen
│  └─ no input: the next verb
└─ go to POST ${name}
`;
}

/** A server on loopback that answers every request in this way. */
async function openServer(
  t: TestContext,
  answer: (request: IncomingMessage, body: string) => [number, string],
) {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const [status, text] = answer(request, body);
      response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a document at a URL is fetched as a call fetches it, and shown with its warnings', async (t) => {
  const asked: string[] = [];
  const base = await openServer(t, ({ method, url }, body) => {
    asked.push(`${method} ${url} ${body}`);
    return [200, MENU];
  });
  const warned =
    'parley: line 3, column 3: <Pay> is refused: this server collects no card numbers; it is skipped (12200)\n';
  assert.deepEqual(await ivr('check', `${base}/voice`), {
    status: 0,
    out: menuTree(`${base}/voice`, base),
    err: warned,
  });
  assert.equal((await ivr('check', '--get', `${base}/voice?a=1#rc=2`)).status, 0);
  assert.match(asked[0] ?? '', /^POST \/voice CallSid=CA0{32}&AccountSid=AC0{32}&From=%2B1/);
  assert.match(asked[1] ?? '', /^GET \/voice\?a=1&CallSid=CA0{32}&\S+ $/);
});

test('a document in a file is shown like one at a URL, and its relative URLs stay as they are', async (t) => {
  const path = join(temporaryFolder(t), 'menu.xml');
  writeFileSync(path, '<Response><Redirect>/voice</Redirect></Response>');
  assert.deepEqual(await ivr('check', path), { status: 0, out: `${path}\n└─ go to POST /voice\n`, err: '' });
});

test('a document that cannot run is refused with its place, or why it cannot be fetched', async (t) => {
  const base = await openServer(t, ({ url }) => {
    if (url === '/broken') return [200, '<Response>\n <Say>Hi</Response>'];
    if (url === '/long') return [200, `<Response>${' '.repeat(65_536)}</Response>`];
    return [404, 'not here'];
  });
  const errorOf = async (url: string) => {
    const { status, out, err } = await ivr('check', url);
    assert.deepEqual([status, out], [1, '']);
    return err;
  };
  assert.match(await errorOf(`${base}/broken`), /^parley: line 2, column \d+: the document .* \(12100\)\n$/);
  assert.equal(await errorOf(`${base}/long`), 'parley: the document must have at most 65536 bytes\n');
  assert.equal(await errorOf(`${base}/none`), 'parley: the URL answered with status 404\n');
  assert.match(await errorOf('http://127.0.0.1:1/'), /^parley: the document cannot be fetched: .+\n$/);
  assert.match(await errorOf('ftp://example.com/'), /^parley: the URL must be an http or https URL/);
});

test('anything else is refused with what was wrong and the usage, status 2', async () => {
  for (const [args, what] of [
    [[], 'the action of ivr is check'],
    [['run', 'menus.json'], 'the action of ivr is check'],
    [['check'], 'state one FILE or URL'],
    [['check', 'a.json', 'b.json'], 'state one FILE or URL'],
  ] as const)
    assert.deepEqual(await ivr(...args), {
      status: 2,
      out: '',
      err: `parley: ${what}\nusage: parley ivr check [--get] FILE|URL\n${NOTE}`,
    });
  const { status, err } = await ivr('check', '--loud', 'menus.json');
  assert.equal(status, 2);
  assert.match(err, /--loud/);
});

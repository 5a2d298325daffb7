// Call programs of two servers as processes: one calls the other, presses keys, and hangs up at the end of
// the program.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../api/http/tls-files.js';
import { call, eventsOfCall, request, storyOf } from './program-calls.js';
import { ServerProcess } from './server-process.js';

const PROGRAMS = {
  main: [
    { say: 'Welcome.' },
    { gather: { timeout: 20, prompts: [{ say: 'Press two.' }], choices: { '2': 'billing' } } },
    { say: 'Nothing was pressed.' },
  ],
  billing: [{ say: 'This is billing.' }, { hangup: {} }],
};

test('a rule gives a call its program, and a key chooses the next one, which hangs up', async (t) => {
  const folder = temporaryFolder(t);
  const [programs, routes] = [join(folder, 'menus.json'), join(folder, 'routes.json')];
  writeFileSync(programs, JSON.stringify({ programs: PROGRAMS }));
  writeFileSync(routes, JSON.stringify({ routes: [{ to: '100', program: 'main' }] }));
  const callee = await ServerProcess.start(t, { IVR_FILE: programs, SIP_ROUTES: routes });
  const caller = await ServerProcess.start(t);
  await call(caller, `sip:100@127.0.0.1:${callee.port}`, '2');
  const story = storyOf(await eventsOfCall(callee));
  assert.deepEqual(
    story.filter((item) => item !== '“Press two.”'),
    ['say', '“Welcome.”', 'gather', 'say', '“This is billing.”', 'hangup', 'ended'],
  );
});

test('the example answers extension 600 of a server without rules', async (t) => {
  const [callee, caller] = await Promise.all([ServerProcess.start(t), ServerProcess.start(t)]);
  await call(caller, `sip:600@127.0.0.1:${callee.port}`, '1');
  const story = storyOf(await eventsOfCall(callee));
  const { data } = await request<{ data: readonly { route?: string }[] }>(`${callee.url}/v1/calls`);
  assert.equal(data[0]?.route, 'example');
  assert.equal(story.at(0), 'say');
  assert.deepEqual(story.slice(-4), ['say', '“You have reached billing. Goodbye.”', 'hangup', 'ended']);
});

// TwiML documents conduct calls of a server as a process: an application on loopback writes them, and another
// server calls and presses keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import twilio from 'twilio';
import { type Asked, formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { call, eventsOfCall, request, storyOf } from './program-calls.js';
import { ServerProcess } from './server-process.js';

const TOKEN = 'the-token-of-this-server';
const PIN = '4711';

const MENU = `<?xml version="1.0" encoding="UTF-8"?>
<Response>
  <Gather action="/pin" numDigits="4" timeout="20">
    <Parameter name="sensitive" value="true"/>
    <Say>Your number, please.</Say>
  </Gather>
  <Say>Nothing was pressed.</Say>
</Response>`;
const THANKS = '<Response><Say>Thank you.</Say><Hangup/></Response>';

/** The form of a request whose signature the client library of Twilio has accepted. */
function checkedForm(origin: string, { path, headers, body }: Asked): Record<string, string | string[]> {
  const form = formIn(body);
  const signature = String(headers['x-twilio-signature']);
  assert.ok(twilio.validateRequest(TOKEN, signature, origin + path, form), `the signature of ${path}`);
  return form;
}

test('a document gathers a secret number: its application gets it, signed, and no other output has it', async (t) => {
  const application = await openApplication(t, (response, { path }) =>
    response.writeHead(200, TWIML).end(path === '/pin' ? THANKS : MENU),
  );
  const callee = await ServerProcess.start(t, {
    TWIML_URL: `${application.origin}/voice`,
    TWIML_AUTH_TOKEN: TOKEN,
    LOG_LEVEL: 'debug',
  });
  const caller = await ServerProcess.start(t);
  const all = await fetch(`${callee.url}/v1/events?after=0`);
  await call(caller, `sip:anything@127.0.0.1:${callee.port}`, PIN);
  const events = await eventsOfCall(callee);
  assert.deepEqual(
    storyOf(events).filter((item) => item !== '“Your number, please.”'),
    ['gather', 'say', '“Thank you.”', 'hangup', 'ended'],
  );
  const [first, second] = application.asked;
  assert.ok(first !== undefined && second !== undefined && application.asked.length === 2);
  const begun = checkedForm(application.origin, first);
  assert.match(String(begun['CallSid']), /^CA[0-9a-f]{32}$/);
  assert.match(String(begun['From']), /^sip:/);
  assert.equal(begun['CallStatus'], 'ringing');
  const pressed = checkedForm(application.origin, second);
  assert.deepEqual([pressed['Digits'], pressed['FinishedOnKey']], [PIN, '']);
  assert.equal(pressed['CallStatus'], 'in-progress');
  const told = events.flatMap(({ type, digit }) => (type === 'digit' ? [digit] : []));
  assert.deepEqual(told, ['*', '*', '*', '*']);
  const calls = JSON.stringify(await request(`${callee.url}/v1/calls`));
  assert.match(calls, /"digits":\[/);
  callee.signal('SIGTERM');
  const followed = await all.text();
  await callee.exited;
  for (const [name, output] of Object.entries({
    calls,
    followed,
    log: callee.output,
    events: JSON.stringify(events),
  })) {
    const keys = [...output.matchAll(/"digit":"(.)"/g)].map(([, key]) => key);
    assert.ok(!output.includes(PIN), `${name} has the number`);
    assert.ok(
      keys.every((key) => key === '*'),
      `${name} has keys: ${keys.join('')}`,
    );
  }
});

test('an application that is gone: the caller hears an apology, and an event has the number of the error', async (t) => {
  const gone = await openApplication(t, (response) => response.destroy());
  const callee = await ServerProcess.start(t, { TWIML_URL: `${gone.origin}/voice` });
  const caller = await ServerProcess.start(t);
  await call(caller, `sip:anything@127.0.0.1:${callee.port}`, '1');
  const events = await eventsOfCall(callee);
  assert.deepEqual(storyOf(events), ['“We are sorry, an application error has occurred. Goodbye.”', 'ended']);
  assert.equal(events.find(({ type }) => type === 'program.failed')?.code, '11205');
});

// GET /v1/calls/{id}/captions: the events as a client reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NumberedCaptionEvent } from '../../../src/call/call-captions.js';
import { ParleyError } from '../../../src/errors.js';
import { errorIn, openServer } from '../app-under-test.js';

const CAPTION = { side: 'caller', number: 3, beginMs: 1500, endMs: 2750, language: 'en' } as const;

class ScriptedCaptions {
  readonly asked: unknown[][] = [];
  events: NumberedCaptionEvent['event'][] = [];
  stopped = 0;

  follow(
    id: string,
    key: string | undefined,
    after: number,
    onEvent: (event: NumberedCaptionEvent) => void,
  ): () => void {
    this.asked.push([id, key, after]);
    if (id === 'nobody') throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
    for (const [n, event] of this.events.entries()) onEvent({ id: after + n, event });
    return () => this.stopped++;
  }
}

function eventsIn(body: string): Record<string, unknown>[] {
  const lines = body.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

test('captions come as events with times, text and a cue', async (t) => {
  const captions = new ScriptedCaptions();
  captions.events = [
    { type: 'started', startedMs: 1_700_000_000_000, isCallerRecognised: true },
    { type: 'caption', caption: { ...CAPTION, text: 'a < b', isFinal: false } },
    { type: 'caption', caption: { ...CAPTION, text: 'a < b & c', isFinal: true } },
    { type: 'failed', error: new ParleyError('ENGINE_BUSY', 'too many') },
    { type: 'ended', reason: 'hung up' },
  ];
  const { url } = await openServer(t, { captions });
  const answer = await fetch(`${url}/v1/calls/call_1/captions?after=7`);
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const body = await answer.text();
  assert.match(body, /id: 8\nevent: caption\n/);
  const [started, , final, failed, ended] = eventsIn(body);
  const call = 'call_1';
  assert.deepEqual(started, {
    type: 'captions.started',
    call,
    started_at: '2023-11-14T22:13:20.000Z',
    caller_recognised: true,
  });
  assert.deepEqual(final, {
    type: 'caption',
    call,
    side: 'caller',
    number: 3,
    start: 1.5,
    end: 2.75,
    text: 'a < b & c',
    final: true,
    language: 'en',
    vtt: '00:00:01.500 --> 00:00:02.750\n<v Caller>a &lt; b &amp; c',
  });
  assert.match(JSON.stringify(failed), /"code":"engine_busy"/);
  assert.deepEqual(ended, { type: 'captions.ended', call, reason: 'hung up' });
  assert.deepEqual(captions.asked, [['call_1', undefined, 7]]);
  assert.equal(captions.stopped > 0, true);
  const finals = eventsIn(await (await fetch(`${url}/v1/calls/call_1/captions?partials=false`)).text());
  assert.deepEqual(
    finals.map(({ type }) => type),
    ['captions.started', 'caption', 'captions.failed', 'captions.ended'],
  );
});

test('the header Last-Event-ID goes before `after`, and must be an id', async (t) => {
  const captions = new ScriptedCaptions();
  captions.events = [{ type: 'ended', reason: 'hung up' }];
  const { url } = await openServer(t, { captions });
  const ask = (id: string) =>
    fetch(`${url}/v1/calls/call_1/captions?after=1`, { headers: { 'last-event-id': id } });
  await (await ask('9')).text();
  assert.deepEqual(captions.asked, [['call_1', undefined, 9]]);
  const wrong = await ask('x');
  assert.deepEqual([wrong.status, errorIn(await wrong.text()).param], [400, 'Last-Event-ID']);
});

test('a call that is not there, and a server without calls, are answered with 404', async (t) => {
  for (const options of [{ captions: new ScriptedCaptions() }, {}]) {
    const { url } = await openServer(t, options);
    const answer = await fetch(`${url}/v1/calls/nobody/captions`);
    assert.deepEqual([answer.status, errorIn(await answer.text()).code], [404, 'not_found']);
  }
});

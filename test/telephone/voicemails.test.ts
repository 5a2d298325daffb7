// A voicemail, from one server as a process to another: a greeting and a beep, a message, a key, and what the
// application is told. The file has what was said, and nothing before it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordingSid } from '../../src/api/twiml/sids.js';
import { readWav } from '../../src/codecs/wav.js';
import { formIn, openApplication, TWIML } from '../api/twiml/loopback-application.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { until } from '../fakes/until.js';
import { likeness, type Sound } from '../interop/telephone/sound-shape.js';
import { request } from './program-calls.js';
import { ServerProcess } from './server-process.js';

const MESSAGE = 'Please call me back this afternoon, after four.';
const ALIKE = 0.9;
const MAILBOX = `<Response>
  <Say>Leave a message.</Say>
  <Record action="/saved" finishOnKey="#" timeout="10" recordingStatusCallback="/state"
    recordingStatusCallbackEvent="in-progress completed"/>
</Response>`;
const SAVED = '<Response><Say>Thank you.</Say><Hangup/></Response>';

function soundIn(bytes: Uint8Array): Sound {
  const wav = readWav(bytes);
  assert.equal(wav.channels, 1);
  const samples = new Float32Array(wav.frames);
  wav.read(0, 0, samples);
  return { samples, rate: wav.rate };
}

async function mailbox(t: Parameters<typeof openApplication>[0]) {
  const application = await openApplication(t, (response, { path }) =>
    response.writeHead(200, TWIML).end(path === '/saved' ? SAVED : MAILBOX),
  );
  const folder = temporaryFolder(t);
  const [callee, caller] = await Promise.all([
    ServerProcess.start(t, {
      TWIML_URL: `${application.origin}/voice`,
      RECORDINGS_DIR: folder,
      PUBLIC_URL: 'https://parley.example/pbx/',
    }),
    ServerProcess.start(t),
  ]);
  const to = `sip:box@127.0.0.1:${callee.port}`;
  const { id } = await request<{ id: string }>(`${caller.url}/v1/calls`, { to });
  const askedAt = (path: string) => application.asked.filter((one) => one.path === path);
  const states = () => askedAt('/state').map(({ body }) => formIn(body)['RecordingStatus']);
  await until(() => states().includes('in-progress'));
  const call = `${caller.url}/v1/calls/${id}`;
  const say = (text: string) => request(`${call}/say`, { text });
  const spoken = async () => {
    const events = await fetch(`${call}/events?after=0`, { signal: AbortSignal.timeout(30_000) });
    let seen = '';
    const decoder = new TextDecoder();
    for await (const part of events.body ?? []) {
      seen += decoder.decode(part as Uint8Array, { stream: true });
      if (seen.includes('"utterance.spoken"')) return;
    }
    assert.fail('the message was not spoken to its end');
  };
  const heard = async (text: string): Promise<Sound> => {
    const body = JSON.stringify({ model: 'tts-1', input: text, response_format: 'wav' });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${caller.url}/v1/audio/speech`, { method: 'POST', headers, body });
    return soundIn(new Uint8Array(await answer.arrayBuffer()));
  };
  return { folder, call, say, spoken, heard, askedAt, states };
}

test('a message is recorded until a key, and its file has what was said', async (t) => {
  const { folder, call, say, spoken, heard, askedAt, states } = await mailbox(t);
  await say(MESSAGE);
  const message = await heard(MESSAGE);
  const seconds = message.samples.length / message.rate;
  await spoken();
  await request(`${call}/dtmf`, { digits: '#' });
  await until(() => askedAt('/saved').length === 1);
  const saved = formIn(askedAt('/saved')[0]?.body ?? '');
  const [name = ''] = readdirSync(folder);
  assert.deepEqual([saved['Digits'], saved['CallStatus']], ['#', 'in-progress']);
  assert.equal(saved['RecordingSid'], recordingSid(name));
  const path = `/2010-04-01/Accounts/${String(saved['AccountSid'])}/Recordings/${recordingSid(name)}`;
  assert.equal(saved['RecordingUrl'], `https://parley.example/pbx${path}`);
  const file = soundIn(readFileSync(join(folder, name)));
  const recordedSeconds = file.samples.length / file.rate;
  assert.equal(saved['RecordingDuration'], String(Math.round(recordedSeconds)));
  assert.ok(recordedSeconds < seconds + 1.5, `${recordedSeconds} s of ${seconds} s`);
  const { correlation } = likeness(file, message);
  assert.ok(correlation > ALIKE, `the file is like the message to ${correlation}`);
  await until(() => states().length === 2);
  assert.deepEqual(states(), ['in-progress', 'completed']);
});

test('a caller who hangs up leaves a message, too, and the application learns of both', async (t) => {
  const { call, say, spoken, askedAt, states } = await mailbox(t);
  await say(MESSAGE);
  await spoken();
  await fetch(call, { method: 'DELETE' });
  await until(() => askedAt('/saved').length === 1 && states().length === 2);
  const saved = formIn(askedAt('/saved')[0]?.body ?? '');
  assert.deepEqual([saved['Digits'], saved['CallStatus']], ['hangup', 'completed']);
  assert.match(String(saved['RecordingDuration']), /^[1-9]$/);
});

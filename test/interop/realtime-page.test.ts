// A page in Chromium that opens a call as the pages of OpenAI's Realtime API do: a form with the offer, a
// data channel "oai-events", and a client secret that carries the session.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { readConfig } from '../../src/config/config.js';
import { startServer } from '../../src/main.js';
import { ChatEndpoint } from '../agents/chat-endpoint.js';
import { CHROMIUM_ARGS, installedChromium } from './installed-chromium.js';

// Runs in the page. The sound has to be played, or nothing would be decoded.
const CALLER = `
window.talk = async () => {
  const connection = new RTCPeerConnection();
  const events = [];
  const waiting = new Set();
  const audio = new Audio();
  connection.ontrack = ({ streams, track }) => {
    audio.srcObject = streams[0] ?? new MediaStream([track]);
    void audio.play();
  };
  connection.addTransceiver('audio', { direction: 'recvonly' });
  const channel = connection.createDataChannel('oai-events');
  channel.onmessage = ({ data }) => {
    events.push(JSON.parse(data));
    for (const look of waiting) look();
  };
  const told = (type, count = 1) =>
    new Promise((resolve) => {
      const look = () => {
        const found = events.filter((event) => event.type === type);
        if (found.length < count) return;
        waiting.delete(look);
        resolve(found.at(-1));
      };
      waiting.add(look);
      look();
    });
  const send = (event) => channel.send(JSON.stringify(event));
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ session: { type: 'realtime', audio: { output: { speed: 1.25 } } } });
  const secrets = await fetch('/v1/realtime/client_secrets', { method: 'POST', headers: json, body });
  const { value } = await secrets.json();
  await connection.setLocalDescription();
  const form = new FormData();
  form.set('sdp', connection.localDescription.sdp);
  const headers = { authorization: 'Bearer ' + value };
  const response = await fetch('/v1/realtime/calls', { method: 'POST', headers, body: form });
  await connection.setRemoteDescription({ type: 'answer', sdp: await response.text() });
  const { session } = await told('session.created');
  const message = (role, type, text) =>
    send({ type: 'conversation.item.create', item: { type: 'message', role, content: [{ type, text }] } });
  message('user', 'input_text', 'Do you sell tea?');
  send({ type: 'response.create' });
  await told('output_audio_buffer.stopped');
  message('assistant', 'output_text', 'We open at nine.');
  send({ type: 'response.create' });
  await told('output_audio_buffer.stopped', 2);
  const reports = [...(await connection.getStats()).values()];
  const heard = reports.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio');
  connection.close();
  return { session, events, energy: heard.totalAudioEnergy };
};
`;

interface Told {
  readonly session: {
    readonly model: string;
    readonly audio: { readonly output: { readonly speed: number } };
  };
  readonly events: readonly { readonly type: string; readonly transcript?: string }[];
  readonly energy: number;
}

test('a page of OpenAI’s Realtime API talks with the agent, and has its own text spoken', async (t) => {
  const chat = await ChatEndpoint.open(t);
  const environment = { PORT: '0', SIP_ENABLED: '0', LOG_LEVEL: 'silent', ENGINE: 'flite' };
  const agent = { AGENT_LLM_URL: chat.baseUrl, AGENT_LLM_MODEL: 'small' };
  const server = await startServer(readConfig({ ...environment, ...agent, ICE_HOST_ADDRESSES: '127.0.0.1' }));
  t.after(() => server.close());
  const browser = await chromium.launch({
    executablePath: installedChromium(),
    args: [
      ...CHROMIUM_ARGS,
      '--autoplay-policy=no-user-gesture-required',
      '--allow-loopback-in-peer-connection',
    ],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(server.url);
  await page.addScriptTag({ content: CALLER }).catch(() => page.evaluate(CALLER));
  const talking = page.evaluate('talk()') as Promise<Told>;
  const answer = await chat.asked(0);
  assert.equal(answer.question.messages.at(-1)?.content, 'Do you sell tea?');
  answer.say('We do. ', 'Which one?').done();
  const { session, events, energy } = await talking;
  assert.equal(session.audio.output.speed, 1.25);
  const spoken = events.filter(({ type }) => type === 'response.output_audio_transcript.done');
  assert.deepEqual(
    spoken.map(({ transcript }) => transcript),
    ['We do. Which one?', 'We open at nine.'],
  );
  assert.deepEqual(
    events.filter(({ type }) => type === 'error'),
    [],
  );
  assert.ok(energy > 0.001, `${energy}`);
});

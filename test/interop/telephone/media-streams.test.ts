// A caller talks by telephone with a bot of Media Streams: SIPp calls, a peer speaks and hears in RTP, the
// bot repeats what it heard. Everything of the server is real.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MU_LAW_VALUES } from '../../../src/codecs/g711.js';
import { StreamBot } from '../../api/streams/stream-bot.js';
import { until } from '../../fakes/until.js';
import { kept } from './kept.js';
import { g711Sound } from './rtp-record.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp } from './sipp.js';
import { likeness, type Sound } from './sound-shape.js';
import { TelephoneServer } from './telephone-server.js';

const RATE = 8000;
const QUESTION = 'Excuse me, can I ask you something?';
const HOLD_MS = 60_000;

function assertLike(heard: Float32Array, question: Sound): void {
  const found = likeness({ samples: heard, rate: RATE }, question);
  assert.ok(found.correlation > 0.95 && Math.abs(found.gain - 1) < 0.1, JSON.stringify(found));
}

test('a bot hears the caller and repeats the question; when it closes, the call ends', async (t) => {
  const bot = await StreamBot.open(t);
  const folder = mkdtempSync(join(tmpdir(), 'parley-streams-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'agents.json');
  writeFileSync(file, JSON.stringify({ agents: { bot: { mediaStream: { url: bot.url } } } }));
  const server = await TelephoneServer.start({ AGENTS_FILE: file }, { routes: [{ to: '*', agent: 'bot' }] });
  t.after(() => server.close());
  const rtp = await kept(t, RtpPeer.open());
  const call = { holdMs: HOLD_MS, limitS: 90, keys: { rtp_port: rtp.port } };
  await kept(t, Sipp.call(server.address, 'call-basic', call));
  const stream = await bot.stream();
  await until(() => rtp.source !== undefined);
  const { samples } = await server.rendered(QUESTION, { voice: 'rms' });
  const line = rtp.stream(rtp.source ?? assert.fail());
  await line.play(samples);
  await line.play(new Float32Array(RATE));
  const question = { samples, rate: RATE };
  const given = stream.heard();
  assertLike(
    Float32Array.from(given, (code) => (MU_LAW_VALUES[code] ?? 0) / 32_768),
    question,
  );
  const before = rtp.heard.length;
  stream.speak(given);
  stream.mark('repeated');
  await until(() => stream.marks.length === 1);
  assertLike(g711Sound(rtp.heard.slice(before)), question);
  stream.socket.close(1000);
  await until(() => server.telephone.list().every(({ state }) => state === 'ended'));
});

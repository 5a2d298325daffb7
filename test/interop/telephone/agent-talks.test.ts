// A caller talks by telephone with the built-in agent: SIPp calls, a peer speaks and hears in RTP, a scripted
// model answers, and a scripted server recognises the caller. Everything of the server is real.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RelayBackend } from '../../api/relay/relay-backend.js';
import { until } from '../../fakes/until.js';
import { cough } from '../../hearing/sounds.js';
import { half, openAgentCall, RATE, STORY } from './agent-call.js';
import { g711Sound } from './rtp-record.js';
import { likenessSoFar } from './sound-shape.js';

test('three turns: an answer, one that a cough does not stop and a question does, and a goodbye', async (t) => {
  const { chat, server, transcripts, rtp, events, all, count, say, question } = await openAgentCall(t);
  await until(() => count('utterance.spoken') === 1);
  transcripts.next = 'May I ask something?';
  await say(question);
  const first = await chat.asked(0);
  assert.deepEqual(first.question.messages.slice(1), [
    { role: 'user', content: '[The call begins]' },
    { role: 'assistant', content: 'Good morning.' },
    { role: 'user', content: 'May I ask something?' },
  ]);
  first.say('Of ', 'course. ', 'Please ', 'do.').done();
  await until(() => count('utterance.spoken') === 2);
  const answered = events.find((event) => event.type === 'agent.answered');
  assert.ok(answered?.type === 'agent.answered');
  assert.ok((answered.silenceMs ?? 0) >= 300 && answered.totalMs < 5000, JSON.stringify(answered));

  transcripts.next = 'Tell me a story.';
  await say(question);
  (await chat.asked(1)).say(STORY).done();
  await until(() => count('utterance.started') === 3);
  transcripts.next = '';
  await say(half(cough(-25)));
  assert.equal(count('utterance.interrupted'), 0, 'a cough stops nothing');
  transcripts.next = 'Stop, please.';
  await say(question);
  const third = await chat.asked(2);
  const cut = events.find((event) => event.type === 'utterance.interrupted');
  assert.ok(cut?.type === 'utterance.interrupted');
  assert.ok(STORY.startsWith(cut.heard) && cut.heard.length > 10, cut.heard);
  assert.deepEqual(third.question.messages.slice(-3), [
    { role: 'user', content: 'Tell me a story.' },
    { role: 'assistant', content: cut.heard.trim() },
    { role: 'user', content: 'Stop, please.' },
  ]);

  const before = rtp.heard.length;
  third.say('Goodbye, and thank you.').call('hang_up', {}).done();
  await until(() => all.at(-1)?.type === 'state');
  const end = all.at(-1);
  assert.ok(end?.type === 'state' && end.state === 'ended' && end.end?.reason === 'we hung up');
  const sound = { samples: g711Sound(rtp.heard.slice(before)), rate: RATE };
  const heard = likenessSoFar(sound, await server.rendered('Goodbye, and thank you.'));
  assert.ok(heard.correlation > 0.9, `the goodbye was heard to its end: ${JSON.stringify(heard)}`);
  assert.equal(chat.answers.length, 3);
});

test('a model that is gone is heard as a phrase, and the third time ends the call', async (t) => {
  const { chat, transcripts, all, count, say, question } = await openAgentCall(t);
  await until(() => count('utterance.spoken') === 1);
  chat.close();
  transcripts.next = 'Hello?';
  for (const failures of [1, 2, 3]) {
    await say(question);
    await until(() => count('agent.failed') === failures && count('utterance.spoken') >= failures + 1);
  }
  await until(() => all.some((event) => event.type === 'state' && event.state === 'ended'));
});

test('an application of ConversationRelay talks with the callers of its rule', async (t) => {
  const backend = await RelayBackend.open(t);
  const folder = mkdtempSync(join(tmpdir(), 'parley-agents-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'agents.json');
  const relay = { url: backend.url, welcomeGreeting: 'Good morning.', events: 'tokens-played' };
  writeFileSync(file, JSON.stringify({ agents: { bot: { relay } } }));
  const { transcripts, count, say, question, all } = await openAgentCall(t, {
    environment: { AGENTS_FILE: file },
    files: { routes: [{ to: '*', agent: 'bot' }] },
  });
  await until(() => count('utterance.spoken') === 1);
  const app = await backend.socket();
  const setup = await app.message('setup');
  assert.deepEqual([setup['callType'], setup['direction']], ['SIP', 'inbound']);
  transcripts.next = 'May I ask something?';
  await say(question);
  assert.equal((await app.message('prompt'))['voicePrompt'], 'May I ask something?');
  for (const token of ['Of ', 'course. ', 'Please ', 'do.']) app.send({ type: 'text', token });
  app.send({ type: 'text', token: '', last: true });
  await until(() => count('utterance.spoken') === 2);
  await until(() => app.of('info').length === 4);
  const played = app.of('info').map(({ value }) => value);
  assert.equal(played.join(''), 'Of course. Please do.');
  app.send({ type: 'text', token: 'Goodbye.', last: true });
  app.send({ type: 'end', handoffData: '{}' });
  await until(() => all.at(-1)?.type === 'state');
  assert.equal(count('utterance.spoken'), 3);
});

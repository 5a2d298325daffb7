// Voices and languages that the configuration names: mistakes are told when the server starts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { checkVoices, useConfiguredVoices } from '../../src/engines/engine-setup.js';
import { Engines } from '../../src/engines/routing.js';
import { fliteEngine } from '../../src/engines/flite/flite.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-voices-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const engines = await Engines.of([fliteEngine({ maxWaiting: 1, renderTimeoutMs: 1000 })]);
after(() => engines.close());
const MODEL = { AGENT_LLM_URL: 'http://127.0.0.1:1/v1', AGENT_LLM_MODEL: 'm' };

function start(env: Record<string, string>, agents?: object): readonly string[] {
  if (agents === undefined) return useConfiguredVoices(engines, readConfig(env));
  const file = join(folder, 'agents.json');
  writeFileSync(file, JSON.stringify({ agents }));
  return useConfiguredVoices(engines, readConfig({ ...env, AGENTS_FILE: file }));
}

function problemsOf(env: Record<string, string>, agents?: object): string[] {
  try {
    start(env, agents);
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    assert.equal(code, 'CONFIG_INVALID');
    return message.replace('the configuration is not usable:\n- ', '').split('\n- ');
  }
  return [];
}

test('each voice and language that this server lacks is told by its variable, all at once', () => {
  const problems = problemsOf({
    ...MODEL,
    DEFAULT_VOICE: 'slx',
    GREETING_VOICE: 'rmx',
    AGENT_VOICE: 'awx',
  });
  assert.deepEqual(
    problems.map((problem) => problem.split(';')[0]),
    [
      'DEFAULT_VOICE: there is no voice "slx"',
      'GREETING_VOICE: there is no voice "rmx"',
      'AGENT_VOICE: there is no voice "awx"',
    ],
  );
  assert.match(problems[0] ?? '', /the nearest are slt, /);
  const languages = problemsOf({ ...MODEL, GREETING_LANGUAGE: 'de', AGENT_LANGUAGE: 'fr' });
  assert.match(languages[0] ?? '', /^GREETING_LANGUAGE: no engine of this server speaks German/);
  assert.match(languages[1] ?? '', /^AGENT_LANGUAGE: no engine of this server speaks French/);
});

test('a voice that lacks the language of its agent is told by the language', () => {
  const [problem] = problemsOf({ ...MODEL, AGENT_VOICE: 'slt', AGENT_LANGUAGE: 'de' });
  assert.match(problem ?? '', /^AGENT_LANGUAGE: /);
});

test('voices and languages of AGENTS_FILE are told by their place', () => {
  const problems = problemsOf(
    { ...MODEL, AGENT_VOICE: 'rms' },
    {
      good: { voice: 'slt', language: 'en-US' },
      usual: {},
      sales: { voice: 'slx' },
      support: { language: 'de' },
      bot: { mediaStream: { url: 'ws://127.0.0.1:1', voice: 'nobody' } },
    },
  );
  assert.deepEqual(
    problems.map((problem) => problem.split(':')[0]),
    [
      'AGENTS_FILE agents.sales.voice',
      'AGENTS_FILE agents.support.language',
      'AGENTS_FILE agents.bot.mediaStream.voice',
    ],
  );
});

test('a wrong voice of the environment is told once, however many agents have it', () => {
  assert.equal(problemsOf({ ...MODEL, AGENT_VOICE: 'slx' }, { one: {}, two: {} }).length, 1);
});

test('a relay has a default instead, so that its voice and languages are warnings', () => {
  const relay = {
    url: 'ws://127.0.0.1:1',
    voice: 'en-US-Journey-O',
    languages: [{ code: 'en-US' }, { code: 'de-DE', voice: 'slt' }],
  };
  const notices = start({}, { bot: { relay } });
  assert.deepEqual(
    notices.map((notice) => notice.split(':')[0]),
    ['AGENTS_FILE agents.bot.relay.voice', 'AGENTS_FILE agents.bot.relay.languages[1].code'],
  );
  assert.match(notices[0] ?? '', /calls get a default instead$/);
});

test('names that this server has, and those that voices stand in for, are no mistakes', () => {
  for (const voice of ['slt', 'SLT', 'alloy', 'Vivian'])
    assert.deepEqual(
      problemsOf({ ...MODEL, DEFAULT_VOICE: voice, AGENT_VOICE: voice, GREETING_VOICE: voice }),
      [],
    );
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({ SIP_ENABLED: '0', GREETING_VOICE: 'nobody' }), []);
});

test('voices of routes are told by their place', () => {
  const fields = { voice: 'SIP_ROUTES routes[1]', language: 'SIP_ROUTES routes[1]' };
  assert.throws(() => checkVoices(engines, [{ voice: 'slx', language: undefined, fields }]), {
    code: 'CONFIG_INVALID',
    message: /^SIP_ROUTES routes\[1\]: there is no voice "slx"/,
  });
});

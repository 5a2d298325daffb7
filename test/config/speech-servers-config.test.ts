// The variables of the speech servers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';

const OWN = { TTS_BASE_URL: 'http://gpu1:8000/v1/', TTS_MODEL: 'tts-1', TTS_VOICES: 'vivian' };
const serversOf = (env: Record<string, string>) => readConfig(env).engines.speechServers;

test('without an address there are no speech servers', () => {
  assert.equal(serversOf({}), undefined);
});

test('an address, a model and a voice are enough', () => {
  assert.deepEqual(serversOf(OWN), {
    baseUrls: ['http://gpu1:8000/v1'],
    apiKey: undefined,
    model: 'tts-1',
    dialect: 'openai',
    voices: [{ name: 'vivian', remote: 'vivian' }],
    languages: ['en'],
  });
});

test('there may be several servers and voices, with names of this server', () => {
  const more = { TTS_BASE_URL: 'http://a/v1, https://b:9/v1', TTS_VOICES: 'anna=Voice One, bruno' };
  const servers = serversOf({ ...OWN, ...more, TTS_LANGUAGES: 'de, en,de', TTS_DIALECT: 'vllm' });
  assert.deepEqual(servers?.baseUrls, ['http://a/v1', 'https://b:9/v1']);
  assert.deepEqual(servers?.voices, [
    { name: 'anna', remote: 'Voice One' },
    { name: 'bruno', remote: 'bruno' },
  ]);
  assert.deepEqual([servers?.languages, servers?.dialect], [['de', 'en'], 'vllm']);
});

for (const [what, env, problem] of [
  ['no model', { TTS_MODEL: '' }, /TTS_MODEL must name the model/],
  ['no voice', { TTS_VOICES: '' }, /TTS_VOICES must name the voices/],
  ['a voice twice', { TTS_VOICES: 'a,a=b' }, /TTS_VOICES must name each voice once/],
  ['a server twice', { TTS_BASE_URL: 'http://a/v1,http://a/v1/' }, /TTS_BASE_URL must name each server once/],
  ['no URL', { TTS_BASE_URL: 'gpu1:8000' }, /TTS_BASE_URL must be http or https URLs/],
  ['a password in it', { TTS_BASE_URL: 'http://a:b@c/v1' }, /without user, query and fragment/],
  ['a key that cannot be sent', { TTS_API_KEY: 'a key' }, /TTS_API_KEY must be ASCII without spaces/],
  ['a language by name', { TTS_LANGUAGES: 'English' }, /TTS_LANGUAGES must be tags such as en or de/],
  ['a lone variable', { TTS_BASE_URL: '' }, /TTS_MODEL has no effect without TTS_BASE_URL/],
] as const) {
  test(`speech servers with ${what} are refused`, () => {
    assert.throws(() => serversOf({ ...OWN, ...env }), problem);
  });
}

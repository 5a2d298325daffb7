// The variables of voices.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';
import { temporaryFolder } from '../api/http/tls-files.js';

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test("a file may map ids of ElevenLabs' voices, and its mistakes are reported with all others", (t) => {
  const file = join(temporaryFolder(t), 'voices.json');
  const problems = (text: string, env: Record<string, string> = {}) => {
    writeFileSync(file, text);
    return problemsOf({ ELEVENLABS_VOICES_FILE: file, ...env }).map((problem) =>
      problem.replace(`ELEVENLABS_VOICES_FILE ${file} `, ''),
    );
  };
  assert.deepEqual(problems('\uFEFF{"21m00Tcm4TlvDq8ikWAM": "slt", "a-b_c": "Ryan"}'), []);
  const { elevenLabsVoices } = readConfig({ ELEVENLABS_VOICES_FILE: file }).voices;
  assert.deepEqual(
    [...elevenLabsVoices],
    [
      ['21m00Tcm4TlvDq8ikWAM', 'slt'],
      ['a-b_c', 'Ryan'],
    ],
  );
  assert.deepEqual([...readConfig({}).voices.elevenLabsVoices], []);
  assert.deepEqual(problems('{"a b": "slt", "": "slt", "ok": "slt", "c": 7, "d": " "}', { PORT: 'x' }), [
    'PORT must be a number from 0 to 65535, not "x"',
    '"a b" must be an id of 1 to 64 letters, digits, "-" and "_"',
    '"" must be an id of 1 to 64 letters, digits, "-" and "_"',
    '"c" must be the name of a voice, of 1 to 200 characters',
    '"d" must be the name of a voice, of 1 to 200 characters',
  ]);
  const shape = 'must be a JSON object of ids and names of voices, such as {"21m00Tcm4TlvDq8ikWAM": "slt"}';
  for (const text of ['[]', 'null', '"slt"']) assert.deepEqual(problems(text), [shape]);
  assert.match(problems('{"a": ').join(), /^is not JSON: /);
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`id${i}`, 'slt']));
  assert.deepEqual(problems(JSON.stringify(many)), ['must have at most 10000 ids, not 10001']);
  assert.deepEqual(problems(' '.repeat(2 ** 20 + 1)), ['must have at most 1048576 bytes']);
  rmSync(file);
  assert.deepEqual(problemsOf({ ELEVENLABS_VOICES_FILE: file }), [
    `ELEVENLABS_VOICES_FILE ${file} cannot be read: ENOENT`,
  ]);
});

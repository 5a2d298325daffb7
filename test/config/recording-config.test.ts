// The variables of recordings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';

const recordingOf = (env: Record<string, string>) => readConfig(env).recording;

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('without a folder nothing is recorded', () => {
  assert.equal(recordingOf({}), undefined);
  assert.equal(recordingOf({ RECORDINGS_DIR: ' ' }), undefined);
});

test('a folder alone records WAV of at most four hours, and keeps everything', () => {
  assert.deepEqual(recordingOf({ RECORDINGS_DIR: '/srv/recordings' }), {
    folder: '/srv/recordings',
    format: 'wav',
    maxMs: 14_400_000,
    keepBytes: 0,
    keepMs: 0,
  });
});

test('format and limits are read', () => {
  const env = {
    RECORDINGS_DIR: 'recordings',
    RECORDING_FORMAT: 'Opus',
    RECORDING_MAX_SECONDS: '60',
    RECORDING_MAX_TOTAL_BYTES: '1000000',
    RECORDING_MAX_AGE_DAYS: '0.5',
  };
  assert.deepEqual(recordingOf(env), {
    folder: 'recordings',
    format: 'opus',
    maxMs: 60_000,
    keepBytes: 1_000_000,
    keepMs: 43_200_000,
  });
});

test('values that cannot be meant are refused with what is allowed', () => {
  const env = {
    RECORDINGS_DIR: 'recordings',
    RECORDING_FORMAT: 'mp3',
    RECORDING_MAX_SECONDS: '64801',
    RECORDING_MAX_TOTAL_BYTES: '999999',
    RECORDING_MAX_AGE_DAYS: '-1',
  };
  assert.deepEqual(problemsOf(env), [
    'RECORDING_FORMAT must be one of wav, opus, not "mp3"',
    'RECORDING_MAX_SECONDS must be a number from 1 to 64800, not "64801"',
    'RECORDING_MAX_AGE_DAYS must be a number from 0 to 36500, not "-1"',
    'RECORDING_MAX_TOTAL_BYTES must be 0 or at least 1000000, not "999999"',
  ]);
});

test('a limit without a folder is a mistake', () => {
  assert.deepEqual(problemsOf({ RECORDING_MAX_SECONDS: '60', RECORDING_FORMAT: 'opus' }), [
    'RECORDING_FORMAT needs RECORDINGS_DIR, the folder of the recordings',
    'RECORDING_MAX_SECONDS needs RECORDINGS_DIR, the folder of the recordings',
  ]);
});

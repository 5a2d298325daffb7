import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const HEADER_BYTES = 44;
const RATE = 24_000;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-speak-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The program in a folder of its own, as a user has it. */
function speak(folder: string, args: readonly string[], input = '') {
  const run = spawnSync(process.execPath, [MAIN, 'speak', ...args], {
    cwd: folder,
    input,
    env: { PATH: process.env['PATH'], ENGINE: 'flite' },
    timeout: 60_000,
  });
  return { status: run.status, out: run.stdout, err: run.stderr.toString() };
}

/** Samples of a WAV file of 16 bits that states its own length. */
function samplesOf(wav: Buffer): Int16Array {
  assert.deepEqual(
    [wav.toString('latin1', 0, 4), wav.toString('latin1', 8, 16), wav.readUInt32LE(24)],
    ['RIFF', 'WAVEfmt ', RATE],
  );
  assert.deepEqual([wav.readUInt32LE(4), wav.readUInt32LE(40)], [wav.length - 8, wav.length - HEADER_BYTES]);
  return new Int16Array(Uint8Array.from(wav.subarray(HEADER_BYTES)).buffer);
}

test('a text becomes a WAV file with the stated name, and one line states its length', (t) => {
  const folder = folderOf(t);
  const { status, out, err } = speak(folder, ['Your order', 'has shipped.', '--out', 'order.wav']);
  assert.deepEqual([status, out.length], [0, 0], err);
  const samples = samplesOf(readFileSync(join(folder, 'order.wav')));
  const seconds = samples.length / RATE;
  assert.ok(seconds > 0.8 && seconds < 4, `${seconds} s`);
  assert.ok(samples.some((sample) => Math.abs(sample) > 3000));
  assert.equal(err, `order.wav: ${seconds.toFixed(1)} s of speech\n`);
});

test('the file is speech.wav if no name is stated, and the text may come from standard input', (t) => {
  const folder = folderOf(t);
  assert.equal(speak(folder, [], 'Hello.').status, 0);
  assert.ok(samplesOf(readFileSync(join(folder, 'speech.wav'))).length > 0);
});

test('--out - writes to standard output, and --voice chooses who speaks', (t) => {
  const folder = folderOf(t);
  const [slt, rms] = ['slt', 'rms'].map((voice) => speak(folder, ['Hello.', '--voice', voice, '--out', '-']));
  assert.deepEqual([slt?.status, rms?.status], [0, 0]);
  assert.ok(samplesOf(slt?.out ?? Buffer.alloc(0)).length > 0);
  assert.notDeepEqual(slt?.out, rms?.out);
  assert.equal(existsSync(join(folder, 'speech.wav')), false);
});

test('what cannot be spoken or written is one line for people and status 1', (t) => {
  const folder = folderOf(t);
  for (const [args, message] of [
    [['Hello.', '--voice', 'nobody'], /^parley: there is no voice "nobody"; the nearest are .+\n$/],
    [['Bonjour.', '--language', 'fr'], /^parley: no engine of this server speaks French.*\n$/],
    [['...'], /^parley: .*nothing to speak\n$/],
    [['Hello.', '--out', 'no-folder/a.wav'], /^parley: ENOENT: .*no-folder\/a\.wav'\n$/],
  ] as const) {
    const { status, out, err } = speak(folder, args);
    assert.deepEqual([status, out.length], [1, 0]);
    assert.match(err, message);
  }
});

test('an unknown option is refused with the usage and status 2', (t) => {
  const { status, err } = speak(folderOf(t), ['--speed', '2', 'Hello.']);
  assert.equal(status, 2);
  assert.match(err, /^parley: .*--speed[^]*\nusage: parley speak \[--voice NAME\]/);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { speakCommand } from '../src/speak-command.js';
import { VoiceStore } from '../src/voices/voice-store.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const HEADER_BYTES = 44;
const RATE = 24_000;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-speak-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The program in a folder of its own, as a user has it. */
function speak(
  folder: string,
  args: readonly string[],
  { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
) {
  const run = spawnSync(process.execPath, [MAIN, 'speak', ...args], {
    cwd: folder,
    input,
    env: { PATH: process.env['PATH'], ENGINE: 'flite', ...env },
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
  assert.equal(speak(folder, [], { input: 'Hello.' }).status, 0);
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

test('an existing file is overwritten only with --force', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'speech.wav'), 'mine');
  const refused = speak(folder, ['Hello.']);
  assert.deepEqual([refused.status, refused.err], [1, 'parley: speech.wav exists; --force overwrites it\n']);
  assert.equal(readFileSync(join(folder, 'speech.wav'), 'utf8'), 'mine');
  assert.equal(speak(folder, ['Hello.', '--force']).status, 0);
  assert.ok(samplesOf(readFileSync(join(folder, 'speech.wav'))).length > 0);
});

test('a file that appears while the speech is made is kept', async (t) => {
  const file = join(folderOf(t), 'speech.wav');
  let err = '';
  const stdin = (async function* () {
    writeFileSync(file, 'mine'); // the text is read after the first look for the file
    yield Buffer.from('Hello.');
  })();
  const terminal = { stdin, out: () => undefined, err: (text: string) => void (err += text) };
  assert.equal(await speakCommand(['--out', file], { ENGINE: 'flite' }, terminal), 1);
  assert.equal(err, `parley: ${file} exists; --force overwrites it\n`);
  assert.equal(readFileSync(file, 'utf8'), 'mine');
});

test('a device may be written to, and an unusable name is refused before anything is spoken', (t) => {
  const folder = folderOf(t);
  assert.equal(speak(folder, ['Hello.', '--out', '/dev/null']).status, 0);
  writeFileSync(join(folder, 'notes'), '');
  const { status, err } = speak(folder, ['...', '--out', 'notes/a.wav']);
  assert.deepEqual([status, err], [1, "parley: ENOTDIR: not a directory, stat 'notes/a.wav'\n"]);
});

test('standard input is read up to MAX_TEXT_LENGTH', (t) => {
  const folder = folderOf(t);
  const env = { MAX_TEXT_LENGTH: '10' };
  const { status, err } = speak(folder, [], { input: 'Hello. '.repeat(100_000), env });
  assert.equal(status, 1);
  assert.match(err, /^parley: "text" is longer than the 10 characters that MAX_TEXT_LENGTH allows\n$/);
  assert.equal(speak(folder, ['-o', '-'], { input: 'Hello you.', env }).status, 0);
});

test('SSML is understood as it is over HTTP', (t) => {
  const folder = folderOf(t);
  const [plain, marked] = ['Hello.', '<speak>Hello.<break time="2s"/></speak>'].map(
    (text) => speak(folder, [text, '-o', '-']).out.length,
  );
  assert.ok(Math.abs((marked ?? 0) - (plain ?? 0) - 2 * 2 * RATE) < RATE, `${marked} and ${plain} bytes`);
});

test('stored voices and the configured default are those of the server', async (t) => {
  const folder = folderOf(t);
  const store = await VoiceStore.open({ folder: join(folder, 'voices'), onBroken: () => undefined });
  await store.add({ name: 'Sailor', kind: 'prompt', prompt: 'An old sailor.' });
  const stored = speak(folder, ['Hello.', '--voice', 'sailor']);
  assert.equal(stored.status, 1);
  assert.match(stored.err, /^parley: no engine of this server can make a voice from a description: flite/);
  const [usual, rms] = [{}, { DEFAULT_VOICE: 'rms' }].map((env) =>
    speak(folder, ['Hello.', '-o', '-'], { env }),
  );
  assert.deepEqual([usual?.status, rms?.status], [0, 0]);
  assert.notDeepEqual(usual?.out, rms?.out);
  const unknown = speak(folder, ['Hello.'], { env: { DEFAULT_VOICE: 'nobody' } });
  assert.match(unknown.err, /^parley: DEFAULT_VOICE: there is no voice "nobody"/);
});

test('only the voice that speaks is checked', (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'voices.json');
  writeFileSync(file, '{"21m00Tcm4TlvDq8ikWAM": "nobody"}');
  const listed = speak(folder, ['Hello.', '-o', '-'], { env: { ELEVENLABS_VOICES_FILE: file } });
  assert.equal(listed.status, 0, listed.err);
  const chosen = speak(folder, ['Hello.', '-o', '-', '-v', 'slt'], { env: { DEFAULT_VOICE: 'nobody' } });
  assert.equal(chosen.status, 0, chosen.err);
});

test('an unknown option is refused with the usage and status 2', (t) => {
  const { status, err } = speak(folderOf(t), ['--speed', '2', 'Hello.']);
  assert.equal(status, 2);
  assert.match(err, /^parley: .*--speed[^]*\nusage: parley speak \[--voice NAME\]/);
});

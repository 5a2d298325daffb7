// Samples of voices as requests name them.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { ReferenceAudio } from '../../src/voices/reference-audio.js';
import { PlayedSounds, References, type ReferencesOptions, VoiceCache } from '../../src/voices/references.js';
import { SoundLibrary } from '../../src/voices/sound-library.js';
import { toneWav } from './voice-samples.js';

const NEVER = new AbortController().signal;
const URL_OF = (bytes: string) => `data:audio/wav;base64,${Buffer.from(bytes).toString('base64')}`;

function open(options: Partial<ReferencesOptions> = {}, maxEntries = 2) {
  const decoded: string[] = [];
  const cache = new VoiceCache(maxEntries);
  const references = new References({
    audio: {
      decode: (bytes) => {
        decoded.push(Buffer.from(bytes).toString());
        return Promise.resolve(new Float32Array([0.5]));
      },
    },
    engines: { checkAble: () => undefined },
    cache,
    maxBytes: 100,
    urls: false,
    ...options,
  });
  return {
    decoded,
    cache,
    reference: (source: string | Uint8Array, text?: string, xVectorOnly?: boolean) =>
      references.reference(
        {
          source,
          ...(text === undefined ? {} : { text }),
          ...(xVectorOnly === undefined ? {} : { xVectorOnly }),
        },
        NEVER,
      ),
  };
}

test('a data URL becomes a voice with what is said in it', async () => {
  const { reference, decoded } = open();
  const voice = await reference(URL_OF('sound'), 'Hello.', true);
  assert.deepEqual(decoded, ['sound']);
  assert.equal(voice.kind, 'sample');
  assert.deepEqual(
    { ...voice, hash: '' },
    {
      kind: 'sample',
      hash: '',
      samples: new Float32Array([0.5]),
      rate: 24_000,
      text: 'Hello.',
      xVectorOnly: true,
    },
  );
});

test('whatever changes how the voice sounds changes its hash, and nothing else does', async () => {
  const { reference } = open();
  const hashes = await Promise.all([
    reference(URL_OF('a')),
    reference(URL_OF('b')),
    reference(URL_OF('a'), 'x'),
    reference(URL_OF('a'), 'y'),
    reference(URL_OF('a'), 'x', true),
    reference(URL_OF('a'), undefined, true),
  ]);
  assert.equal(new Set(hashes.map(({ hash }) => hash)).size, hashes.length);
  assert.equal((await reference(Buffer.from('a'))).hash, hashes[0]?.hash);
});

test('a sample is decoded once while it is in memory, and the least recently used leaves', async () => {
  const { reference, decoded, cache } = open();
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await reference(URL_OF(name));
  assert.deepEqual(decoded, ['a', 'b', 'c', 'b']);
  assert.deepEqual(cache.figures, { entries: 2, maxEntries: 2, hits: 2 });
});

test('where nothing is to be kept, nothing is', async () => {
  const { reference, decoded, cache } = open({}, 0);
  for (const name of ['a', 'a']) await reference(URL_OF(name));
  assert.deepEqual(decoded, ['a', 'a']);
  assert.deepEqual(cache.figures, { entries: 0, maxEntries: 0, hits: 0 });
});

test('other schemes than those that are taken are refused by name', async () => {
  const { reference, decoded } = open();
  const cases: [string, RegExp][] = [
    ['file:///etc/passwd', /must be a data: URL in base64, not file:/],
    ['FILE:///etc/passwd', /not file:/],
    ['ftp://a.example/a.wav', /not ftp:/],
    ['blob:http://a.example/1', /not blob:/],
    ['/etc/passwd', /must be a data: URL in base64$/],
    ['https://a.example/a.wav', /this server fetches no URLs$/],
    ['http://a.example/a.wav', /fetches no URLs/],
    ['data:audio/wav,plain', /must hold base64/],
    ['data:audio/wav;base64,***', /not valid base64/],
    ['data:', /must hold base64/],
  ];
  for (const [source, message] of cases) {
    await assert.rejects(reference(source), { code: 'INVALID_FIELD', field: 'ref_audio', message }, source);
  }
  assert.deepEqual(decoded, []);
});

test('more bytes than are taken are refused before they are decoded, in whatever form they come', async () => {
  const { reference, decoded } = open();
  const limit = { code: 'TOO_LARGE', message: /100 bytes at most/ };
  await assert.rejects(reference(URL_OF('x'.repeat(101))), limit);
  await assert.rejects(reference(Buffer.alloc(101)), limit);
  assert.deepEqual(decoded, []);
  await reference(URL_OF('x'.repeat(100)));
  assert.equal(decoded.length, 1);
});

test('with REFERENCE_URLS a file is fetched from a public address, and only from there', async () => {
  const network = {
    addresses: (name: string) => Promise.resolve([name === 'public.example' ? '8.8.8.8' : '10.0.0.1']),
    get: () => Promise.resolve({ status: 200, body: once('fetched'), close: () => undefined }),
  };
  const { reference, decoded } = open({ urls: true, network });
  await reference('https://public.example/a.wav');
  assert.deepEqual(decoded, ['fetched']);
  await assert.rejects(reference('https://private.example/a.wav'), {
    code: 'INVALID_FIELD',
    message: /not public/,
  });
  await assert.rejects(reference('file:///etc/passwd'), { message: /or an http\(s\) URL, not file:/ });
});

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}

test('a sample is not read if no engine can speak with it', async () => {
  const checkAble = (kind: string, _language: unknown, field: string) => {
    throw new ParleyError('CAPABILITY_MISSING', kind, { field });
  };
  const { reference, decoded } = open({ engines: { checkAble } });
  await assert.rejects(reference(URL_OF('a')), { code: 'CAPABILITY_MISSING', field: 'ref_audio' });
  assert.deepEqual(decoded, []);
});

test('the language that is to be spoken is judged with the rest, before anybody looks at the sample', async () => {
  const asked: unknown[] = [];
  const checkAble = (...about: unknown[]) => {
    asked.push(about);
    throw new ParleyError('LANGUAGE_UNAVAILABLE', 'no', { field: 'language' });
  };
  const decode = () => Promise.reject(new Error('decoded'));
  const cache = new VoiceCache(1);
  const options = { audio: { decode }, engines: { checkAble }, cache, maxBytes: 100, urls: false };
  const sample = { source: URL_OF('a'), language: 'fr' };
  await assert.rejects(new References(options).reference(sample, NEVER), { code: 'LANGUAGE_UNAVAILABLE' });
  assert.deepEqual(asked, [['sample', 'fr', 'ref_audio']]);
});

// Sound that a call plays as it is may be of kinds that make no voice.

function openSounds(t: TestContext, urls = false): PlayedSounds {
  const audio = new ReferenceAudio();
  t.after(() => audio.close());
  const library = new SoundLibrary({ folder: undefined, audio });
  return new PlayedSounds({ audio, library, maxBytes: 20 * 1024 * 1024, urls });
}

test('a short beep and plain silence are played, which would be no sample of a voice', async (t) => {
  const sounds = openSounds(t);
  const beep = await sounds.read(toneWav({ seconds: 0.1 }), 'audio', NEVER);
  assert.equal(beep.sampleRate, 24_000);
  assert.equal(beep.samples.length, 2400);
  const silence = await sounds.read(toneWav({ level: 0 }), 'audio', NEVER);
  assert.ok(silence.samples.length === 48_000 && silence.samples.every((sample) => sample === 0));
});

test('a sound of five minutes is played, and a longer one is refused in words of its use', async (t) => {
  const sounds = openSounds(t);
  const longest = await sounds.read(toneWav({ seconds: 300, rate: 8000 }), 'file', NEVER);
  assert.equal(longest.samples.length, 300 * 24_000);
  await assert.rejects(sounds.read(toneWav({ seconds: 301, rate: 8000 }), 'file', NEVER), {
    code: 'AUDIO_INVALID',
    field: 'file',
    message: 'this audio cannot be played: it is longer than 300 s; 0.02 to 300 s are taken',
  });
});

test('a data: URL is read, and an address of the web only where the server allows them', async (t) => {
  const url = `data:audio/wav;base64,${toneWav({ seconds: 0.5 }).toString('base64')}`;
  assert.equal((await openSounds(t).read(url, 'audio', NEVER)).samples.length, 12_000);
  await assert.rejects(openSounds(t).read('https://example.org/a.wav', 'url', NEVER), {
    code: 'INVALID_FIELD',
    field: 'url',
    message: /this server fetches no URLs$/,
  });
  await assert.rejects(openSounds(t, true).read('http://127.0.0.1/a.wav', 'url', NEVER), {
    code: 'INVALID_FIELD',
    field: 'url',
    message: /its address is not public/,
  });
});

/** Sounds whose decoding waits until the test ends it: `files` are those that were begun. */
function heldSounds(cacheBytes?: number) {
  const files: { bytes: string; signal: AbortSignal; end: (samples: Float32Array | ParleyError) => void }[] =
    [];
  const decode = (bytes: Uint8Array, field: string, signal: AbortSignal, use?: string) => {
    assert.equal(use, 'play');
    return new Promise<Float32Array>((resolve, reject) => {
      const end = (how: Float32Array | ParleyError) =>
        how instanceof ParleyError ? reject(new ParleyError(how.code, how.message, { field })) : resolve(how);
      files.push({ bytes: Buffer.from(bytes).toString(), signal, end });
      signal.addEventListener('abort', () => reject(new ParleyError('ABORTED', 'unwanted')));
    });
  };
  const more = cacheBytes === undefined ? {} : { cacheBytes };
  const library = { sound: () => assert.fail('no sound is asked for by its name') };
  const sounds = new PlayedSounds({ audio: { decode }, library, maxBytes: 1000, urls: false, ...more });
  const begun = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { sounds, files, begun };
}

const SAMPLES = new Float32Array(10);

test('the same sound is decoded once, whether it comes as a file or a data: URL', async () => {
  const { sounds, files, begun } = heldSounds();
  const first = sounds.read(Buffer.from('a'), 'audio', NEVER);
  await begun();
  files[0]?.end(SAMPLES);
  assert.equal((await first).samples, SAMPLES);
  assert.equal((await sounds.read(URL_OF('a'), 'audio', NEVER)).samples, SAMPLES);
  assert.equal(files.length, 1);
});

test('plays of one sound at the same time wait for one decoding', async () => {
  const { sounds, files, begun } = heldSounds(0);
  const all = Array.from({ length: 20 }, () => sounds.read(URL_OF('a'), 'audio', NEVER));
  const other = sounds.read(URL_OF('b'), 'audio', NEVER);
  await begun();
  assert.deepEqual(files.map(({ bytes }) => bytes).toSorted(), ['a', 'b']);
  for (const { end } of files) end(SAMPLES);
  for (const { samples } of await Promise.all([...all, other])) assert.equal(samples, SAMPLES);
});

test('a play that is given up takes no sound from another, and the last one ends the decoding', async () => {
  const { sounds, files, begun } = heldSounds();
  const [one, two] = [new AbortController(), new AbortController()];
  const first = assert.rejects(sounds.read(URL_OF('a'), 'audio', one.signal), { code: 'ABORTED' });
  const second = sounds.read(URL_OF('a'), 'audio', two.signal);
  await begun();
  one.abort();
  await first;
  assert.equal(files[0]?.signal.aborted, false);
  const third = assert.rejects(second, { code: 'ABORTED' });
  two.abort();
  await third;
  assert.equal(files[0]?.signal.aborted, true);
  const again = sounds.read(URL_OF('a'), 'audio', NEVER);
  await begun();
  files[1]?.end(SAMPLES);
  assert.equal((await again).samples, SAMPLES);
});

test('a sound that cannot be decoded is refused to each play with its own field, and decoded anew', async () => {
  const { sounds, files, begun } = heldSounds();
  const refused = (field: string) => ({ code: 'AUDIO_INVALID', field, message: 'damaged' });
  const all = Promise.all([
    assert.rejects(sounds.read(URL_OF('a'), 'audio', NEVER), refused('audio')),
    assert.rejects(sounds.read(URL_OF('a'), 'file', NEVER), refused('file')),
  ]);
  await begun();
  files[0]?.end(new ParleyError('AUDIO_INVALID', 'damaged'));
  await all;
  void sounds.read(URL_OF('a'), 'audio', NEVER);
  await begun();
  assert.equal(files.length, 2);
});

test('decoded sounds take no more bytes than are allowed, and a larger one drops no other', async () => {
  const { sounds, files, begun } = heldSounds(2 * SAMPLES.byteLength);
  const play = async (name: string, samples = SAMPLES) => {
    const reading = sounds.read(URL_OF(name), 'audio', NEVER);
    await begun();
    files.at(-1)?.end(samples);
    await reading;
  };
  for (const name of ['a', 'b', 'a', 'c', 'a']) await play(name);
  assert.deepEqual(
    files.map(({ bytes }) => bytes),
    ['a', 'b', 'c'],
  );
  await play('long', new Float32Array(21));
  await play('c');
  await play('a');
  assert.equal(files.length, 4);
  await play('b');
  assert.equal(files.length, 5);
});

test('samples of one voice at the same time are decoded once as well', async () => {
  let decodes = 0;
  const decode = () => {
    decodes++;
    return Promise.resolve(SAMPLES);
  };
  const { reference } = open({ audio: { decode } });
  await Promise.all(Array.from({ length: 5 }, () => reference(URL_OF('a'))));
  assert.equal(decodes, 1);
});

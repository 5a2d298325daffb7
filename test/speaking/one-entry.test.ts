// Speech, `parley normalize` and POST /v1/text/normalize say the same words for every text.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { normalizeCommand } from '../../src/cli.js';
import { primaryTag } from '../../src/engines/language-names.js';
import type { SpeechRouting } from '../../src/engines/routing.js';
import { ParleyError } from '../../src/errors.js';
import { spokenLanguage } from '../../src/speaking/sentence-reader.js';
import { arrivingSentences } from '../../src/speaking/voice-plan.js';
import { wholeText } from '../../src/speaking/whole-text.js';
import { systemTime } from '../../src/time.js';
import { openApp } from '../api/app-under-test.js';
import { InstantEngine } from '../fakes/engines.js';
import { behavioursOf, languagesWithCases } from '../text/normalize/case-files.js';

const LIMITS = { maxTextLength: 4096, maxNewTokens: 2048, maxUploadBytes: 0, textIdleMs: 1000 };
const NORMALIZE = '/v1/text/normalize';

/** Speaks every language, and English by default. */
const routing: SpeechRouting = {
  voices: () => Promise.resolve([]),
  resolve: ({ language = 'en' }) => ({
    engine: new InstantEngine(),
    voice: 'a',
    language: primaryTag(language),
  }),
};

type Words = readonly string[];

function inSpeech(text: string, language?: string): Words {
  try {
    return wholeText(text, { language, markup: text.startsWith('<speak') }, routing, LIMITS).map((piece) =>
      'text' in piece ? (piece.spoken?.text ?? piece.text) : '',
    );
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'TEXT_EMPTY') return [];
    throw error;
  }
}

async function inTokens(text: string, language: string): Promise<Words> {
  const words: string[] = [];
  const tokens = (async function* () {
    for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
  })();
  const { signal } = new AbortController();
  const options = { time: systemTime, signal, onPause: () => undefined };
  const arriving = arrivingSentences(tokens, { language }, { routing, limits: LIMITS }, options);
  for await (const { text: written, spoken } of arriving) words.push(spoken?.text ?? written);
  return words;
}

async function inCommand(text: string, language?: string): Promise<Words> {
  const shown: string[] = [];
  const stated = language === undefined ? [] : ['--language', language];
  const terminal = {
    stdin: (async function* () {})(),
    out: (words: string) => void shown.push(words),
    err: () => undefined,
  };
  const status = await normalizeCommand(['--json', ...stated, '--', text], terminal);
  return status === 0 ? spokenOf(JSON.parse(shown.join(''))) : [];
}

/** The words of the sentences that are spoken. */
function spokenOf({ sentences }: { readonly sentences: readonly { readonly spoken?: string }[] }): Words {
  return sentences.map(({ spoken = '' }) => spoken).filter((words) => /[\p{L}\p{N}]/u.test(words));
}

async function openEndpoint(t: TestContext): Promise<(text: string, language?: string) => Promise<Words>> {
  const limits = {
    ...LIMITS,
    spokenLanguage: (...[planned, voice]: [Parameters<typeof spokenLanguage>[0], string | undefined]) =>
      spokenLanguage(planned, voice, routing),
  };
  const { app } = await openApp(t, { limits });
  return async (text, language) => {
    const payload = { text, ...(language === undefined ? {} : { language }) };
    const answer = await app.inject({ method: 'POST', url: NORMALIZE, payload });
    return answer.statusCode === 200 ? spokenOf(answer.json()) : [];
  };
}

for (const tag of languagesWithCases()) {
  test(`${tag}: every case is spoken in the words that the command and the endpoint show`, async (t) => {
    const endpoint = await openEndpoint(t);
    const cases = behavioursOf(tag).flatMap((behaviour) => behaviour.cases.map(({ written }) => written));
    for (const text of cases) {
      for (const language of [tag, undefined]) {
        const speech = inSpeech(text, language);
        assert.deepEqual(await inCommand(text, language), speech, text);
        assert.deepEqual(await endpoint(text, language), speech, text);
        if (language !== undefined && speech.length > 0)
          assert.deepEqual(await inTokens(text, language), speech, text);
      }
    }
  });
}

const ODD = [
  '1\u200B5\u00A0km',
  'It\u2060 costs\u00AD $\uFEFF5.',
  '\uFEFFThe 3\u200D rd of May.',
  'Ｔｈｅ ｐｒｉｃｅ ｉｓ ＄５．５０．',
  '5 &lt; 6 &amp;amp; 7&nbsp;km',
  '5&#8203;0 km',
  '3&thinsp;km &euro;5',
  'x = 5, y = 3',
  '\u202E12:30\u202C',
  '\uD8005 km',
  'a\u0000b 5\tkm\u2028next',
  'ｶﾞｲﾄﾞ 5km',
  '１５：３０に着きます。',
  '<speak>5\u200B km &lt; 6 km</speak>',
  '<speak>1\u00AD5 <say-as interpret-as="digits">12</say-as></speak>',
  '\u{E0041}\u200F5 €',
];

test('texts with invisible characters, entities and full width are spoken as they are shown', async (t) => {
  const endpoint = await openEndpoint(t);
  for (const text of ODD) {
    for (const language of ['en', 'de', 'ja', undefined]) {
      const speech = inSpeech(text, language);
      assert.notDeepEqual(speech, [], text);
      assert.deepEqual(await endpoint(text, language), speech, text);
      if (!text.includes('\u0000')) assert.deepEqual(await inCommand(text, language), speech, text);
    }
  }
});

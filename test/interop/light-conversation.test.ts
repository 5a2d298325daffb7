// The way from an empty clone to a conversation on a plain CPU: `parley pull` fetches the models that hear
// from a hub on loopback, `npm start` opens them, a page speaks, and a scripted model answers. The models are
// toys: the recogniser hears each tone as a word.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { moonshineFolder } from '../../src/config/onnx-cache.js';
import { type MoonshineModel, moonshineModelNamed, TURN_MODELS } from '../../src/config/onnx-catalog.js';
import { ChatEndpoint, type StreamedAnswer } from '../agents/chat-endpoint.js';
import { temporaryFolder } from '../api/http/tls-files.js';
import { until } from '../fakes/until.js';
import { joined, mixed, silence, speech } from '../hearing/sounds.js';
import { PullUnderTest } from '../models/pull-under-test.js';
import { toy, toySound } from '../onnx/toys.js';
import { ServerProcess } from '../telephone/server-process.js';
import { openMicrophonePage } from './microphone-page.js';
import { wavBytes } from './telephone/sound-shape.js';

const RATE = 16_000;
const GREETING = 'Good morning.';
const ANSWER = 'It is on its way. It arrives on Tuesday.';
/** The microphone is silent for so long: the greeting is heard meanwhile. */
const LEAD_MS = 5000;
const TAIL_MS = 20_000;
const LOUD = 0.01; // share of full scale
/** The tones of 300, 1200, 600 and 2400 Hz in their order. Each has two words, by its place in the text. */
const TONES = /^(?:alpha|s).*(?:char|lie).*(?:bravo|to).*(?:delta|\.)/;
const VOCABULARY = /^(?: ?alpha|s| ?char|lie| ?bravo| ?to| ?delta|\.| ?you)+$/;

/** A published model with the files of the toy: nobody has weights with the pinned checksums here. */
function toyModel(): { readonly model: MoonshineModel; readonly files: ReadonlyMap<string, Buffer> } {
  const published = moonshineModelNamed('moonshine-small-en');
  assert.ok(published !== undefined);
  const folder = toy('moonshine-a');
  const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  const pinned = [...files].map(([name, content]) => {
    const text = createHash('sha256').update(content).digest('hex');
    return { name, bytes: content.length, digest: { kind: 'sha256', text } as const };
  });
  return { model: { ...published, files: pinned }, files };
}

/** A cache with the models of `parley pull moonshine-small-en` and `parley pull turn-en`. */
async function pulled(t: TestContext): Promise<{ readonly cache: string; readonly ears: string }> {
  const { model, files } = toyModel();
  const [turn] = TURN_MODELS;
  assert.ok(turn !== undefined);
  const graph = readFileSync(toy('turn-1-mini/turn-1-mini.step.onnx'));
  const pull = await PullUnderTest.openAll(t, [
    { id: turn.id, commit: turn.commit, files: { [turn.path]: graph } },
  ]);
  for (const [name, content] of files)
    pull.hub.moonshine.set(`${model.folder}/${model.revision}/${name}`, content);
  const catalog = { moonshine: [model], turn: TURN_MODELS };
  for (const name of [model.name, turn.name]) assert.equal(await pull.run(name, { catalog }), 0, pull.err);
  return { cache: pull.cache, ears: moonshineFolder(pull.cache, model) };
}

/**
 * Writes what the caller plays. Speech is mixed with the tones of the toy, because the detector of speech is
 * the real one.
 */
async function microphoneFile(t: TestContext): Promise<string> {
  const tones = toySound('speech');
  const said = await speech('Can I ask you something about the order that I made last week?', 'awb');
  const mix = mixed(tones, said.subarray(0, tones.length));
  const file = join(temporaryFolder(t), 'microphone.wav');
  writeFileSync(file, wavBytes({ samples: joined(silence(LEAD_MS), mix, silence(TAIL_MS)), rate: RATE }));
  return file;
}

test('with pulled models a page is understood and answered, and the runtime reports nothing', async (t) => {
  const [{ cache, ears }, chat] = [await pulled(t), await ChatEndpoint.open(t)];
  const home = temporaryFolder(t);
  const server = await ServerProcess.start(t, {
    HOME: home,
    HF_HUB_CACHE: cache,
    MOONSHINE_MODELS: ears, // the catalogue pins other files, so that the toy is no complete one
    ENGINE: 'auto',
    PRELOAD_MODEL: '1',
    SIP_ENABLED: '0',
    ICE_HOST_ADDRESSES: '127.0.0.1',
    AGENT_LLM_URL: chat.baseUrl,
    AGENT_LLM_MODEL: 'small',
    AGENT_GREETING: GREETING,
  });
  const health = (await (await fetch(`${server.url}/health`)).json()) as {
    readonly recognition: { readonly recogniser: { readonly engine: string; readonly loaded: boolean } };
    readonly voiceActivity: { readonly turnModels: readonly string[] };
  };
  assert.deepEqual(
    [
      health.recognition.recogniser.engine,
      health.recognition.recogniser.loaded,
      health.voiceActivity.turnModels,
    ],
    ['moonshine', true, ['turn-1-mini']],
  );
  const page = await openMicrophonePage(t, server.url, await microphoneFile(t));

  // The agent may ask in a pause that the toy takes for the end. It asks again when the caller goes on, with
  // the turns that got no answer before the last one.
  const words = ({ question }: StreamedAnswer) =>
    String(question.messages.at(-1)?.content).replaceAll('\n', ' ');
  await until(() => chat.answers.some((answer) => TONES.test(words(answer))));
  const asked = chat.answers.find((answer) => TONES.test(words(answer))) ?? assert.fail();
  const { role, content } = asked.question.messages.at(-1) ?? {};
  assert.equal(role, 'user');
  assert.match(words(asked), VOCABULARY);
  const prompts = async () => (await page.events()).filter(({ type }) => type === 'agent.prompt');
  const isTold = async () => (await prompts()).some(({ text }) => String(content).endsWith(String(text)));
  await until(isTold); // the model is asked before the turn has ended
  const framesBefore = (await page.levels()).length;
  asked.say(...ANSWER.split(/(?<= )/)).done();
  const spoken = async () =>
    (await page.events()).filter(({ type }) => type === 'utterance.spoken').map(({ text }) => text);
  await until(async () => (await spoken()).length === 2);
  assert.deepEqual(await spoken(), [GREETING, ANSWER]);
  const loud = (await page.levels()).slice(framesBefore).filter((level) => level > LOUD).length;
  assert.ok(loud > 20, `${loud} loud frames`);
  assert.deepEqual(readdirSync(home), []); // the runtime would keep an identifier of the machine here
});

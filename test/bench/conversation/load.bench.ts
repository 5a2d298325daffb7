// Conversations at once on a machine that does all the work: the voice is Pocket TTS, the recogniser
// Moonshine, both of the real size with random weights. The words and the ends of turns are those of the
// script, and the answers come from a scripted chat endpoint.
//
//   native/build/write_checkpoint --type pocket --size 100m --out VOICE/english
//   python3 test/tools/make_light_ears.py --real small EARS
//   npm run bench -- conversation-load VOICE/english EARS [--conversations 5] [--quick] [--seed 1]
import { parseArgs } from 'node:util';
import { randomFrom } from '../../api/mutations.js';
import { spreadOf } from '../arrivals.js';
import { writePieces } from '../moonshine-folder.js';
import { machine, stolenSeconds, table } from '../table.js';
import { BenchConversationServer } from './bench-conversation-server.js';
import { Caller } from './caller.js';
import { judge } from './judge.js';
import { Network } from './line.js';
import { greet, interruptions, questions, type Stage } from './scenes.js';
import { ScriptedChat } from './scripted-chat.js';
import { SipLine } from './sip-line.js';
import { CallerVoices } from './voices.js';

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    conversations: { type: 'string', default: '5' },
  },
});
const [voice, ears] = positionals;
if (voice === undefined || ears === undefined)
  throw new Error('state two folders: npm run bench -- conversation-load VOICE EARS');
const [SEED, CONVERSATIONS] = [Number(values.seed), Number(values.conversations)];
const [QUESTIONS, INTERRUPTIONS] = values.quick ? [3, 2] : [10, 8];

async function conversation(server: BenchConversationServer, chat: ScriptedChat, n: number) {
  const name = `c${n}`;
  const line = await SipLine.open(server.sip, name, new Network({}, SEED + n));
  const caller = new Caller({ name, line, tell: (message) => server.tell(message) });
  const stage: Stage = {
    caller,
    chat,
    voices,
    noiseSounds: undefined,
    recorded: [],
    random: randomFrom(SEED + n),
  };
  await greet(stage);
  const cues = [...(await questions(stage, QUESTIONS)), ...(await interruptions(stage, INTERRUPTIONS))];
  await caller.close();
  return judge(caller.recording, cues);
}

/** The value of a counter of the server, over all of its labels. */
async function counter(url: string, name: string): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  const values = lines.filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
  if (values.length === 0) throw new Error(`the server counts no ${name}`);
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const names = Array.from({ length: CONVERSATIONS }, (_, n) => `c${n}`);
writePieces(ears);
const chat = await ScriptedChat.open();
const voices = await CallerVoices.load();
const server = await BenchConversationServer.start({
  chatUrl: chat.url,
  callers: names,
  voice: 'alba',
  environment: {
    ENGINE: 'pocket',
    MODEL_DIR: voice,
    QUANTIZE: 'int8',
    PRELOAD_MODEL: '1',
    PROMETHEUS_ENABLED: '1',
    BENCH_EARS: ears,
  },
});
try {
  const [beganMs, stolen] = [performance.now(), stolenSeconds()];
  const verdicts = await Promise.all(names.map((_, n) => conversation(server, chat, n)));
  const seconds = (performance.now() - beganMs) / 1000;
  const [replies, stops] = [verdicts.flatMap((one) => one.replies), verdicts.flatMap((one) => one.stops)];
  const sum = (of: (verdict: (typeof verdicts)[number]) => number) =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0);
  const [reply, stop] = [spreadOf(replies), spreadOf(stops)];
  console.log(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n`);
  console.log(
    table([
      {
        conversations: CONVERSATIONS,
        replies: replies.length,
        unanswered: sum(({ unanswered }) => unanswered),
        'reply p50': reply.p50,
        'reply p95': reply.p95,
        stops: `${stops.length} of ${sum(({ interruptions: count }) => count)}`,
        'stop p50': stop.p50,
        'stop p95': stop.p95,
        underruns: await counter(server.url, 'parley_underruns_total'),
        'stolen %': (100 * (stolenSeconds() - stolen)) / seconds,
      },
    ]),
  );
  const parts = ['silenceMs', 'textMs', 'modelMs', 'sentenceMs', 'speechMs', 'packetMs'] as const;
  const part = (name: (typeof parts)[number]) => {
    const { p50, p95 } = spreadOf(server.answered.flatMap(({ times }) => times[name] ?? []));
    return { part: name, p50, p95 };
  };
  console.log(table(parts.map(part)));
} finally {
  await server.close();
  await voices.close();
  await chat.close();
}

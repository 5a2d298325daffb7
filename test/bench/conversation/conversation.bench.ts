// Whole conversations with the agent: scripted callers talk with a server, and the recordings of their calls
// are judged (see judge.ts). The caller's words come from a scripted recogniser, the ends of turns from a
// scripted model, and the answers from a scripted chat endpoint. The sound of the voice (flite) is made in
// advance, and comes 60 ms after its sentence. All else is the server's own: SIP, WebRTC, Silero, the agent.
//
//   npm run bench -- conversation                    all lines and scenes, 20 minutes of noises: 10 minutes
//   npm run bench -- conversation --quick            two lines, fewer turns: 90 s
//   npm run bench -- conversation --seed 7           other pauses, moments and noises; 1 by default
//   npm run bench -- conversation --only questions   one scene: or pauses, interruptions, noises, asides
//   npm run bench -- conversation --keep FOLDER      writes each recording as a WAV file
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machine, table } from '../table.js';
import { figuresOf, noiseRows, partRows, rowOf } from './figures.js';
import { runConversations, SCENES, isScene } from './conversations.js';
import { stereoWav } from './recording.js';

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    keep: { type: 'string' },
  },
});

async function main(): Promise<void> {
  const { quick, seed, only, keep } = values;
  if (only !== undefined && !isScene(only)) throw new Error(`--only takes one of ${SCENES.join(', ')}`);
  const plan = { isQuick: quick, seed: Number(seed), only };
  console.log(`${new Date().toISOString().slice(0, 10)}, ${machine()}, seed ${plan.seed}\n`);
  const { calls, times, notices } = await runConversations(plan);
  for (const notice of notices) console.log(notice);
  if (keep !== undefined)
    for (const { name, recording } of calls) writeFileSync(join(keep, `${name}.wav`), stereoWav(recording));
  const lines = [...new Set(calls.map(({ line }) => line))];
  const of = (line: string) => calls.filter((call) => call.line === line).map(({ verdicts }) => verdicts);
  const all = calls.map(({ verdicts }) => verdicts);
  const rows = lines.map((line) => rowOf(line, figuresOf(of(line))));
  console.log(table([...rows, rowOf('all', figuresOf(all))]));
  const noises = noiseRows(all);
  const minutes = figuresOf(all).noiseMinutes.toFixed(1);
  if (noises.length > 0)
    console.log(`\nNoises over our voice, ${minutes} minutes of sound:\n\n${table(noises)}`);
  console.log(`\nWhere the time of a reply goes, by the server's events (ms):\n\n${table(partRows(times))}`);
}

await main();

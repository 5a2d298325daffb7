// Shows what call programs do, as a tree for people: one line for each verb, with what follows it.
//
//   main
//   ├─ say "Welcome."
//   ├─ gather 1 key or speech, for 5 s
//   │  ├─ say "Press 1 or say billing."
//   │  ├─ 1: go to billing
//   │  └─ any other input: the next verb
//   └─ go to main
import type { Conference, Dequeue, Dial, Gather, RecordVoice, Target, Verb } from './verbs.js';

const MOST_TEXT = 60; // characters of a text

interface Node {
  readonly text: string;
  readonly below: readonly Node[];
}

/** The lines of one program. */
export function programTree(name: string, verbs: readonly Verb[]): string {
  return [name, ...linesOf(nodesOf(verbs), '')].join('\n');
}

/** Verbs behind one after which the program never goes on. */
function nodesOf(verbs: readonly Verb[]): readonly Node[] {
  const last = verbs.findIndex((verb) => ['redirect', 'hangup', 'reject', 'leave'].includes(verb.verb));
  const nodes = verbs.map((verb, index) => {
    const node = nodeOf(verb);
    return last === -1 || index <= last ? node : { ...node, text: `${node.text} (never reached)` };
  });
  return last === -1 ? [...nodes, leaf('hang up, as no verb is left')] : nodes;
}

function nodeOf(verb: Verb): Node {
  switch (verb.verb) {
    case 'say': {
      const manner = [verb.voice, verb.language, verb.format === 'ssml' ? 'SSML' : undefined];
      const how = manner.filter((word) => word !== undefined).join(', ');
      return leaf(`say ${shown(verb.text)}${how === '' ? '' : ` (${how})`}${times(verb.times)}`);
    }
    case 'play':
      return leaf(`play ${verb.sound}${times(verb.times)}`);
    case 'press':
      return leaf(`press ${verb.digits}`);
    case 'pause':
      return leaf(`pause for ${seconds(verb.ms)}`);
    case 'gather':
      return gatherNode(verb);
    case 'record':
      return recordNode(verb);
    case 'start':
      return { text: 'start', below: verb.forks.map(({ kind }) => leaf(`a ${kind}`)) };
    case 'stop':
      return leaf(`stop ${verb.forks.map(({ kind, name }) => name ?? `the ${kind}`).join(', ')}`);
    case 'connect': {
      const { to, action } = verb;
      const whom = to.kind === 'agent' ? `the agent ${to.name}` : `${to.kind} ${String(to.fields['url'])}`;
      const after = leaf(`afterwards: ${action === undefined ? 'the next verb' : goTo(action)}`);
      return { text: `connect with ${whom}`, below: [after] };
    }
    case 'refer': {
      const after = leaf(`afterwards: ${verb.action === undefined ? 'the next verb' : goTo(verb.action)}`);
      return { text: `refer the far end to ${verb.to}`, below: [after] };
    }
    case 'redirect':
      return leaf(goTo(verb.to));
    case 'dial':
      return dialNode(verb);
    case 'conference':
      return conferenceNode(verb);
    case 'enqueue':
      return waitNode(`wait in the queue ${verb.queue}`, verb, 'afterwards');
    case 'dequeue':
      return dequeueNode(verb);
    case 'leave':
      return leaf('leave the queue');
    case 'hangup':
      return leaf('hang up');
    case 'reject':
      return leaf(`reject the call as ${verb.reason === 'busy' ? 'busy' : 'not reachable'}`);
  }
}

function gatherNode(gather: Gather): Node {
  const { inputs, mostKeys, finishKeys, firstMs, prompts, choices = new Map<string, Target>() } = gather;
  const keys = mostKeys === undefined ? 'keys' : mostKeys === 1 ? '1 key' : `${mostKeys} keys`;
  const finish = finishKeys === '' || mostKeys === 1 ? '' : `, ended by ${finishKeys.split('').join(' ')}`;
  const what = inputs.map((input) => (input === 'keys' ? `${keys}${finish}` : 'speech')).join(' or ');
  const results = [...choices].map(([choice, target]) => leaf(`${choice}: ${goTo(target)}`));
  const other = gather.action === undefined ? 'the next verb' : goTo(gather.action);
  results.push(leaf(`${choices.size === 0 ? 'any input' : 'any other input'}: ${other}`));
  if (gather.action !== undefined)
    results.push(leaf(`no input: ${gather.tellsEmpty ? goTo(gather.action) : 'the next verb'}`));
  return { text: `gather ${what}, for ${seconds(firstMs)}`, below: [...prompts.map(nodeOf), ...results] };
}

function dialNode({ targets, isSequential, ringMs, action }: Dial): Node {
  const order = targets.length === 1 ? '' : isSequential ? ', one after another' : ', all at once';
  const below = targets.map(({ to, whisper }) =>
    leaf(whisper === undefined ? to : `${to}, who hears ${whisper.at} first`),
  );
  const after = leaf(`afterwards: ${action === undefined ? 'the next verb' : goTo(action)}`);
  return { text: `dial for ${seconds(ringMs)}${order}`, below: [...below, after] };
}

function recordNode({ mostMs, timeoutMs, finishKeys, action }: RecordVoice): Node {
  const ends = [
    ...(finishKeys === '' ? [] : [`one of ${finishKeys.split('').join(' ')}`]),
    ...(timeoutMs === 0 ? [] : [`${seconds(timeoutMs)} without speech`]),
  ];
  const until = ends.length === 0 ? '' : `, until ${ends.join(' or ')}`;
  const below = [
    leaf(`recorded: ${action === undefined ? 'the next verb' : goTo(action)}`),
    ...(timeoutMs === 0 ? [] : [leaf('nothing said: the next verb')]),
  ];
  return { text: `record the caller for at most ${seconds(mostMs)}${until}`, below };
}

function conferenceNode(verb: Conference): Node {
  const { room, isMuted, opens, ends, isRecorded, coach, mostMs } = verb;
  const manner = [
    isMuted ? 'muted' : undefined,
    opens ? undefined : 'waiting for another member to open it',
    ends ? 'ending it by leaving' : undefined,
    isRecorded ? 'recorded' : undefined,
    coach === undefined ? undefined : `heard by ${coach} only`,
    mostMs === undefined ? undefined : `for ${seconds(mostMs)} at most`,
  ].filter((word) => word !== undefined);
  const how = manner.length === 0 ? '' : ` (${manner.join(', ')})`;
  return waitNode(`join the room ${room}${how}`, verb, 'afterwards');
}

function waitNode(text: string, { wait, action }: Pick<Conference, 'wait' | 'action'>, name: string): Node {
  const heard = typeof wait === 'string' ? wait : goTo(wait);
  return { text, below: [leaf(`meanwhile: ${heard}`), ...actionNodes(name, action)] };
}

function dequeueNode({ queue, waitMs, whisper, action }: Dequeue): Node {
  const heard = whisper === undefined ? [] : [leaf(`the caller hears before: ${goTo(whisper)}`)];
  const text = `take the next call of the queue ${queue}, for ${seconds(waitMs)}`;
  return { text, below: [...heard, ...actionNodes('afterwards', action)] };
}

function actionNodes(name: string, action: Target | undefined): readonly Node[] {
  return action === undefined ? [] : [leaf(`${name}: ${goTo(action)}`)];
}

function linesOf(nodes: readonly Node[], indent: string): readonly string[] {
  return nodes.flatMap(({ text, below }, index) => {
    const isLast = index === nodes.length - 1;
    return [
      `${indent}${isLast ? '└─' : '├─'} ${text}`,
      ...linesOf(below, `${indent}${isLast ? '   ' : '│  '}`),
    ];
  });
}

function leaf(text: string): Node {
  return { text, below: [] };
}

function goTo({ at, method }: Target): string {
  return `go to ${method === undefined ? '' : `${method} `}${at}`;
}

function times(number: number): string {
  return number === 1 ? '' : `, ${number} times`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

/** The beginning of a text, on one line. */
function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return JSON.stringify(line.length > MOST_TEXT ? `${line.slice(0, MOST_TEXT)}…` : line);
}

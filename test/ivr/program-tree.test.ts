// Call programs as trees for people.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPrograms } from '../../src/ivr/program-reader.js';
import { programTree } from '../../src/ivr/program-tree.js';

function treeOf(main: unknown): string {
  const { programs, problems } = readPrograms(
    JSON.stringify({ programs: { main, other: [{ hangup: {} }] } }),
  );
  assert.equal(problems, undefined);
  return programTree('main', programs?.get('main') ?? []);
}

test('a tree has one line for each verb, and the ways on from a gather', () => {
  const menu = [
    { say: { text: 'Welcome\nto  Miller.', voice: 'slt', language: 'en', times: 2 } },
    { play: 'tune.wav' },
    { pause: 1.5 },
    {
      gather: {
        input: ['keys', 'speech'],
        keys: 1,
        timeout: 3,
        prompts: [{ say: 'Press 1 or say billing.' }],
        choices: { '1': 'other', billing: 'other' },
        otherwise: 'main',
      },
    },
    { gather: {} },
    { press: '12' },
    { redirect: 'main' },
  ];
  assert.equal(
    treeOf(menu),
    `main
├─ say "Welcome to Miller." (slt, en), 2 times
├─ play tune.wav
├─ pause for 1.5 s
├─ gather 1 key or speech, for 3 s
│  ├─ say "Press 1 or say billing."
│  ├─ 1: go to other
│  ├─ billing: go to other
│  ├─ any other input: go to main
│  └─ no input: the next verb
├─ gather keys, ended by #, for 5 s
│  └─ any input: the next verb
├─ press 12
└─ go to main`,
  );
});

test('a tree shows verbs that are never reached, and the end of a program that just stops', () => {
  assert.equal(
    treeOf([{ hangup: {} }, { say: 'Hello?' }]),
    'main\n├─ hang up\n└─ say "Hello?" (never reached)',
  );
  assert.equal(treeOf([{ reject: 'busy' }]), 'main\n└─ reject the call as busy');
  assert.equal(treeOf([{ pause: 2 }]), 'main\n├─ pause for 2 s\n└─ hang up, as no verb is left');
});

test('long texts are cut, and characters that a terminal would obey are not shown', () => {
  assert.equal(
    treeOf([{ say: `\u001b[2J${'a'.repeat(70)}` }, { reject: {} }]),
    `main\n├─ say "\\u001b[2J${'a'.repeat(56)}…"\n└─ reject the call as not reachable`,
  );
});

test('a tree shows rooms and queues, what is heard meanwhile, and what follows', () => {
  assert.equal(
    treeOf([
      { conference: 'weekly' },
      {
        conference: {
          room: 'r',
          muted: true,
          opens: false,
          ends: true,
          record: true,
          coach: 'anna',
          limit: 60,
        },
      },
      { enqueue: { queue: 'sales', wait: 'other', next: 'other' } },
      { dequeue: { queue: 'sales', whisper: 'other', timeout: 5, next: 'main' } },
      { leave: {} },
    ]),
    `main
├─ join the room weekly
│  └─ meanwhile: music
├─ join the room r (muted, waiting for another member to open it, ending it by leaving, recorded, heard by anna only, for 60 s at most)
│  └─ meanwhile: music
├─ wait in the queue sales
│  ├─ meanwhile: go to other
│  └─ afterwards: go to other
├─ take the next call of the queue sales, for 5 s
│  ├─ the caller hears before: go to other
│  └─ afterwards: go to main
└─ leave the queue`,
  );
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import subsrt from 'subsrt-ts';
import type { Cue } from '../../src/transcribing/cues.js';
import { headOf, srtCue, vttCue } from '../../src/transcribing/subtitle-files.js';

function cue(beginMs: number, endMs: number, ...lines: string[]): Cue {
  let next = beginMs;
  const words = lines.flatMap((line, l) =>
    line.split(' ').map((text, n) => ({ text, isSpaceBefore: l + n > 0, beginMs: (next += 250) - 250 })),
  );
  return { beginMs, endMs, lines, words };
}

const CUES = [
  cue(0, 1500, 'Hello, world.'),
  cue(1500, 3_599_999, 'Fish & chips <now>', '--> here'),
  cue(3_600_000, 3_601_001, '今天的天气', '非常好'),
  cue(400 * 3_600_000, 400 * 3_600_000 + 500, 'Late.'),
];

function srtOf(cues: readonly Cue[]): string {
  return headOf('srt') + cues.map((one, n) => srtCue(one, n + 1)).join('');
}

function vttOf(cues: readonly Cue[], isWordLevel = false): string {
  return headOf('vtt') + cues.map((one) => vttCue(one, isWordLevel)).join('');
}

test('SubRip: number, times with a comma, lines, an empty line', () => {
  assert.equal(
    srtOf(CUES),
    [
      '1\n00:00:00,000 --> 00:00:01,500\nHello, world.\n',
      '2\n00:00:01,500 --> 00:59:59,999\nFish & chips <now>\n--> here\n',
      '3\n01:00:00,000 --> 01:00:01,001\n今天的天气\n非常好\n',
      '4\n400:00:00,000 --> 400:00:00,500\nLate.\n\n',
    ].join('\n'),
  );
});

test('WebVTT: a head, times with a point, and no markup out of the text', () => {
  assert.equal(
    vttOf(CUES.slice(0, 2)),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello, world.\n\n' +
      '00:00:01.500 --> 00:59:59.999\nFish &amp; chips &lt;now&gt;\n--&gt; here\n\n',
  );
});

test('WebVTT by words: each time is within the cue and later than the one before', () => {
  assert.equal(
    vttCue(cue(1000, 2600, 'one two three', 'four & five six seven'), true),
    '00:00:01.000 --> 00:00:02.600\n' +
      'one <00:00:01.250>two <00:00:01.500>three\n' +
      '<00:00:01.750>four <00:00:02.000>&amp; <00:00:02.250>five <00:00:02.500>six seven\n\n',
  );
  const ideographs = { ...cue(0, 900, '今天', '好'), words: Array.from('今天好').map(ideograph) };
  assert.equal(
    vttCue(ideographs, true),
    '00:00:00.000 --> 00:00:00.900\n今<00:00:00.300>天\n<00:00:00.600>好\n\n',
  );
});

function ideograph(text: string, n: number) {
  return { text, isSpaceBefore: false, beginMs: n * 300 };
}

for (const format of ['srt', 'vtt'] as const) {
  const text = format === 'srt' ? srtOf(CUES.slice(0, 3)) : vttOf(CUES.slice(0, 3));

  test(`an npm parser reads the cues back from ${format}`, () => {
    const read = subsrt.parse(text, { format }).filter((one) => one.type === 'caption');
    assert.deepEqual(
      read.map(({ start, end, content }) => [start, end, unescaped(content)]),
      CUES.slice(0, 3).map(({ beginMs, endMs, lines }) => [beginMs, endMs, lines.join('\n')]),
    );
  });

  test(`ffprobe reads the cues back from ${format}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-subtitles-'));
    try {
      writeFileSync(join(folder, `a.${format}`), text);
      const asked = ['-v', 'error', '-show_entries', 'packet=pts_time,duration_time', '-of', 'csv=p=0'];
      const printed = execFileSync('ffprobe', [...asked, join(folder, `a.${format}`)], { encoding: 'utf8' });
      assert.deepEqual(
        printed
          .trim()
          .split('\n')
          .map((line) => line.split(',').slice(0, 2).map(Number)),
        CUES.slice(0, 3).map(({ beginMs, endMs }) => [beginMs / 1000, (endMs - beginMs) / 1000]),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

function unescaped(text: string): string {
  return text.replaceAll('\r', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

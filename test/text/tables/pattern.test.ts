// Patterns of written forms: what they match, what is refused, and the time that matching takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { isPattern, parsePattern, PatternTable, spokenProblem } from '../../../src/text/tables/pattern.js';

const FORMAT = { decimal: ',', grouping: ['.', ' '] } as const;

function tableOf(...patterns: readonly string[]): PatternTable<string> {
  const table = new PatternTable<string>(FORMAT);
  for (const written of patterns) {
    const pattern = parsePattern(written);
    assert.ok(typeof pattern !== 'string', written);
    table.add(pattern, written);
  }
  return table;
}

function matchOf(patterns: readonly string[], text: string, at = 0): string | undefined {
  const match = tableOf(...patterns).at(text, at);
  return match === undefined ? undefined : `${match.value}: ${text.slice(at, match.end)}`;
}

test('a pattern has literals, numbers and digits', () => {
  assert.equal(matchOf(['{n} loc.'], '1.200 loc. in'), '{n} loc.: 1.200 loc.');
  assert.equal(matchOf(['{n} loc.'], '3,5 loc.'), '{n} loc.: 3,5 loc.');
  assert.equal(matchOf(['{n} loc.'], '5 \u00A0loc.'), '{n} loc.: 5 \u00A0loc.');
  assert.equal(matchOf(['{n} loc.'], '5loc.'), undefined);
  assert.equal(matchOf(['id:A\\d-\\d{5}'], 'A1-12345.'), 'id:A\\d-\\d{5}: A1-12345');
  assert.equal(matchOf(['A\\d-\\d{5}'], 'A1-123456'), undefined);
  assert.equal(matchOf(['A\\d-\\d{5}'], 'A1-1234'), undefined);
  assert.equal(matchOf(["dell'{n}"], 'dell’8'), "dell'{n}: dell’8");
  assert.equal(matchOf(['\\{x\\} \\\\'], '{x} \\'), '\\{x\\} \\\\: {x} \\');
});

test('it begins and ends at the edge of a word', () => {
  assert.equal(matchOf(['{n} loc'], '5 local'), undefined);
  assert.equal(matchOf(['{n} loc'], '5 loc, due'), '{n} loc: 5 loc');
});

test('the longest match counts, and of two as long the more literal one', () => {
  const patterns = ['{n} Zi.', '{n} Zi.-Whg.', '3 Zi.', '\\d Zi.'];
  assert.equal(matchOf(patterns, '3 Zi.-Whg. frei'), '{n} Zi.-Whg.: 3 Zi.-Whg.');
  assert.equal(matchOf(patterns, '3 Zi. frei'), '3 Zi.: 3 Zi.');
  assert.equal(matchOf(patterns, '4 Zi. frei'), '\\d Zi.: 4 Zi.');
  assert.equal(matchOf(patterns, '14 Zi. frei'), '{n} Zi.: 14 Zi.');
});

test('numbers are given in order', () => {
  const match = tableOf('WO {n}/{n}').at('WO 12/3', 0);
  assert.deepEqual(
    match?.numbers.map(({ whole }) => whole),
    ['12', '3'],
  );
});

test('a mistake is told with what is allowed', () => {
  const problem = (written: string) => {
    const found = parsePattern(written);
    return typeof found === 'string' ? found : assert.fail(`${written} is accepted`);
  };
  assert.match(
    problem('a\\w'),
    /has "\\w", but a pattern holds literals, \{n\} for a number, \\d for a digit/,
  );
  assert.match(problem('{m} loc.'), /has "\{m\} lo", but/);
  assert.match(problem('a.*}'), /has "\}", but/);
  assert.match(problem('{n}'), /needs a literal or \\d/);
  assert.match(problem('{n}{n} a'), /beside another number or digit/);
  assert.match(problem('\\d{n} a'), /beside another number or digit/);
  assert.match(problem('\\d{0} a'), /is longer than 100/);
  assert.match(problem('\\d{99} ab'), /is longer than 100/);
  assert.match(problem('{n}a{n}a{n}a{n}a{n}a'), /more than 4 numbers/);
  assert.deepEqual(['a', 'id:a', '{n} a', '\\d'].map(isPattern), [false, true, true, true]);
});

test('the spoken form has only numbers of the pattern, and {d} with a manner', () => {
  const pattern = parsePattern('{n} loc.');
  assert.ok(typeof pattern !== 'string');
  assert.equal(spokenProblem(pattern, '{n} locali', false), undefined);
  assert.match(spokenProblem(pattern, '{n} e {n}', false) ?? '', /more \{n\} than the pattern, which has 1/);
  assert.match(spokenProblem(pattern, '{x}', false) ?? '', /no other braces/);
  assert.match(spokenProblem(pattern, '{d}', false) ?? '', /needs a manner/);
  assert.match(spokenProblem(pattern, 'order', true) ?? '', /needs \{d\}/);
});

test('any text is matched without an error, and a match lies within it', () => {
  const table = tableOf('{n} a', '\\d{3}', 'a{n}b\\d', '1\\d1', 'id:A\\d-\\d{5}');
  const texts = fc.string({ unit: fc.constantFrom('1', '12', '.', ',', ' ', 'a', 'b', 'A', '-', '🦀', 'é') });
  fc.assert(
    fc.property(texts, (text) => {
      for (let at = 0; at < text.length; at++) {
        const match = table.at(text, at);
        if (match !== undefined) assert.ok(match.end > at && match.end <= text.length);
      }
    }),
  );
});

test('the time is linear, also for many patterns with the same beginning', () => {
  const many = Array.from({ length: 2000 }, (_, index) => `{n} unit${index}`);
  const table = tableOf(...many, '\\d{90}x', '1\\d'.repeat(30));
  const timeOf = (text: string) => {
    const from = performance.now();
    for (let at = 0; at < text.length; at++) table.at(text, at);
    return performance.now() - from;
  };
  const text = '1 unit19990 1,111.111 1111111111 ';
  timeOf(text.repeat(100)); // compiles
  const [short, long] = [timeOf(text.repeat(300)), timeOf(text.repeat(3000))];
  assert.ok(long < 40 * short + 50, `${short} ms, then ${long} ms for ten times as much`);
});

test('patterns that mix digits and their places do not slow a text down', () => {
  const mixed = Array.from({ length: 1300 }, (_, seed) =>
    Array.from({ length: 30 }, (_empty, step) =>
      ((seed * 2654435761) >>> (step % 31)) & 1 ? '1' : '\\d',
    ).join(''),
  );
  const table = tableOf(...new Set(mixed));
  const text = '1'.repeat(2000);
  const from = process.cpuUsage();
  for (let at = 0; at < text.length; at++) table.at(text, at);
  const { user } = process.cpuUsage(from);
  assert.ok(user < 2_000_000, `${user} µs for ${text.length} characters`);
});

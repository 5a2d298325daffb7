import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readLexiconFile, withLexicon } from '../../src/speaking/lexicon-file.js';

function fileOf(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lexicon-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'words.json');
  writeFileSync(path, content);
  return path;
}

test('the file that the configuration names is read at the start', (t) => {
  const lexiconFile = fileOf(t, '[{"word": "SQL", "say": "sequel", "case": "ignore"}]');
  const { lexicon } = withLexicon({ lexiconFile });
  assert.deepEqual(lexicon?.claims('sql', 'en'), [{ start: 0, end: 3, spoken: 'sequel', rule: 'lexicon' }]);
  assert.equal(withLexicon({ lexiconFile: undefined }).lexicon, undefined);
});

test('a file that cannot be used is named with what is wrong in it', (t) => {
  const refused = (path: string, message: RegExp) =>
    assert.throws(() => readLexiconFile(path), { code: 'CONFIG_INVALID', message });
  refused('/nowhere/words.json', /^LEXICON_FILE \/nowhere\/words\.json: cannot be read: ENOENT$/);
  refused(fileOf(t, '[{'), /^LEXICON_FILE .*words\.json: is not JSON: /);
  refused(
    fileOf(t, '[{"word": "a", "say": "b"}, {"word": "a"}]'),
    /words\.json: "lexicon\[1\]\.say" must be/,
  );
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { breaches, importCycles } from './architecture-rules.js';

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCE = /\.(?:ts|cc|cpp|h|hpp|cu|cuh)$/;

function repository(): Map<string, string> {
  const sources = new Map<string, string>();
  for (const top of ['src', 'sip', 'signaling', 'test', 'native']) {
    if (!existsSync(join(ROOT, top))) continue;
    for (const path of readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })) {
      const file = `${top}/${path.replaceAll('\\', '/')}`;
      if (!SOURCE.test(file) || /(?:^|\/)(?:node_modules|build[^/]*)\//.test(file)) continue;
      sources.set(file, readFileSync(join(ROOT, file), 'utf8'));
    }
  }
  return sources;
}

test('the whole repository keeps to the plan of the house', () => {
  const sources = repository();
  assert.ok(sources.has('src/errors.ts') && sources.size > 20);
  assert.deepEqual(breaches(sources), []);
});

test('no source files import each other in a cycle, imports of types included', () => {
  assert.deepEqual(importCycles(repository()), []);
});

test('a cycle of imports is found with all its files, through types too', () => {
  const sources = new Map([
    ['src/call/a.ts', "import type { B } from './b.js';"],
    ['src/call/b.ts', "const { c } = await import('./c.js');"],
    ['src/call/c.ts', "import { a } from './a.js';\nimport { d } from './d.js';"],
    ['src/call/d.ts', ''],
    ['test/call/e.ts', "import '../call/e.js';"],
  ]);
  assert.deepEqual(importCycles(sources), [['src/call/a.ts', 'src/call/b.ts', 'src/call/c.ts']]);
  sources.set('src/call/c.ts', "import { d } from './d.js';");
  assert.deepEqual(importCycles(sources), []);
});

/** Violations reported when one file with this text is added. */
function ruleOn(path: string, text: string): string[] {
  return breaches(new Map([[path, text]]));
}

test('an import that the plan does not know is named with its file', () => {
  for (const [path, text, breach] of [
    ['src/audio/a.ts', "import { Call } from '../call/call.js';", 'may not import src/call/call.ts'],
    [
      'src/media/a.ts',
      "import type { V } from '../encoding/marks.js';",
      'may not import src/encoding/marks.ts',
    ],
    [
      'src/encoding/a.ts',
      "import type { V } from '../engines/engine.js';",
      'may not import src/engines/engine.ts',
    ],
    ['src/speaking/a.ts', "import type { V } from '../call/call.js';", 'may not import src/call/call.ts'],
    ['src/engines/a.ts', "import { x } from '../text/sentences.js';", 'may not import src/text/sentences.ts'],
    ['src/text/a.ts', "const b = await import('../codecs/wav.js');", 'may not import src/codecs/wav.ts'],
    ['src/api/calls/a.ts', "import '../../../signaling/offer.js';", 'may not import signaling/offer.ts'],
    ['signaling/a.ts', "import { y } from '../src/api/app.js';", 'may not import src/api/app.ts'],
    ['src/api/http/a.ts', "import { y } from '../app.js';", 'may not import src/api/app.ts'],
    ['src/api/omni/a.ts', "import '../relay/relay-call.js';", 'may not import src/api/relay/relay-call.ts'],
    ['src/api/new/a.ts', '', 'stands in no room of the plan'],
    ['src/call/a.ts', "import { z } from '../addon.js';", 'may not import src/addon.ts'],
    ['src/errors.ts', "import { c } from './config/config.js';", 'may not import src/config/config.ts'],
    ['src/call/a.ts', "new Worker(new URL('../api/w.js', import.meta.url));", 'may not import src/api/w.ts'],
    ['src/call/a.ts', "import {\n  a,\n  b,\n} from '../main.js';", 'may not import src/main.ts'],
    [
      'sip/a.ts',
      "import type { M } from '../src/observe/metrics.js';",
      'may not import src/observe/metrics.ts',
    ],
    ['src/noise/a.ts', '', 'stands in no room of the plan'],
  ] as const) {
    assert.deepEqual(ruleOn(path, text), [`${path}: ${breach}`]);
  }
});

test('a package away from its home is named with its file', () => {
  assert.deepEqual(ruleOn('src/call/a.ts', "import { fastify } from 'fastify';"), [
    'src/call/a.ts: is no home of the package fastify',
  ]);
  assert.deepEqual(ruleOn('src/codecs/other.ts', "const opus = require('@discordjs/opus');"), [
    'src/codecs/other.ts: is no home of the package @discordjs/opus',
  ]);
  assert.deepEqual(ruleOn('src/main.ts', "import x from 'left-pad/deep';"), [
    'src/main.ts: is no home of the package left-pad',
  ]);
});

test('a file that is too long, nameless or a mere list of exports is named', () => {
  for (const joint of ['src/call/call.ts', 'src/api/open-conversations.ts', 'src/api/request-hooks.ts']) {
    assert.deepEqual(ruleOn(joint, '\n'.repeat(301)), [`${joint}: has 301 lines, 300 is the most`]);
  }
  assert.deepEqual(ruleOn('native/media/plane.cc', '\n'.repeat(601)), [
    'native/media/plane.cc: has 601 lines, 600 is the most',
  ]);
  assert.deepEqual(ruleOn('test/call/call.test.ts', '\n'.repeat(900)), []);
  for (const path of [
    'src/call/utils.ts',
    'src/call/call-types.ts',
    'src/api/http/helpers/a.ts',
    'test/common.ts',
  ]) {
    assert.deepEqual(ruleOn(path, ''), [`${path}: a file is named by the noun that it holds`]);
  }
  assert.deepEqual(ruleOn('src/call/index.ts', ''), ['src/call/index.ts: exports what another file holds']);
  assert.deepEqual(ruleOn('src/call/all.ts', "export { Call } from './call.js';"), [
    'src/call/all.ts: exports what another file holds',
  ]);
});

test('native code that knows what is above it is named with its file', () => {
  for (const [path, text, header] of [
    ['native/media/a.cc', '#include <napi.h>', 'napi.h'],
    ['native/media/a.h', '#include <uv.h>', 'uv.h'],
    ['native/media/a.cc', '#include "binding/handles.h"', 'binding/handles.h'],
    ['native/kernels/a.cc', '#include "model/shared/layer.h"', 'model/shared/layer.h'],
    ['native/runtime/a.cc', '#include <cuda_runtime.h>', 'cuda_runtime.h'],
    ['native/test/a.cc', '#include <node_api.h>', 'node_api.h'],
  ] as const) {
    assert.deepEqual(ruleOn(path, text), [`${path}: may not include ${header}`]);
  }
  assert.deepEqual(ruleOn('native/binding/a.cc', '#include <napi.h>\n#include "media/plane.h"'), []);
});

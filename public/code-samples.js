// Programs that do what the page has just done: for a shell, a web page, Python and a telephone. Those that
// are shown read the key of the user from a variable; those that are copied have it in them.

/**
 * @typedef {object} Place
 * @property {string} server URL of the server's root, without a slash at its end.
 * @property {boolean} hasKey The server asks for keys.
 * @property {string} [key] The key of the user, to be put into the program; absent: the program reads a
 *   variable.
 */

/**
 * @typedef {object} SpeechBody Fields of a request for speech.
 * @property {string} input
 * @property {string} response_format
 * @property {string} [voice]
 * @property {string} [language]
 * @property {number} [speed]
 * @property {string} [instructions]
 */

/**
 * The last action of the user: a text was spoken in a call, said to the agent, made a file, or read as words.
 * @typedef {{ type: 'text', text: string, voice: string, language: string }
 *   | { type: 'prompt', text: string, conductor: { agent: string } | { program: string } }
 *   | { type: 'file', request: SpeechBody }
 *   | { type: 'reading', text: string, language: string }} Action
 */

/** @typedef {'curl' | 'javascript' | 'python' | 'sip'} Kind */

const PHONE = 'sip:you@telephone.example.com';
const AUTHORIZATION = '"Authorization: Bearer $PARLEY_KEY"';

/** @type {Record<Kind, (action: Action, place: Place) => string>} */
const WRITERS = { curl, javascript, python, sip };

/**
 * @param {Kind} kind
 * @param {Action} action
 * @param {Place} place
 */
export function sampleOf(kind, action, place) {
  return WRITERS[kind](action, place);
}

/** The request over HTTP that does the same, or the nearest to it. @param {Action} action */
function requestOf(action) {
  switch (action.type) {
    case 'text': {
      const { text, voice, language } = action;
      const body = { input: text, ...stated({ voice, language }), response_format: 'mp3' };
      return { path: '/v1/audio/speech', body, file: 'speech.mp3' };
    }
    case 'file': {
      const { request } = action;
      return { path: '/v1/audio/speech', body: request, file: `speech.${request.response_format}` };
    }
    case 'reading': {
      const { text, language } = action;
      return { path: '/v1/text/normalize', body: { text, ...stated({ language }) }, file: '' };
    }
    case 'prompt':
      return { path: '/v1/calls', body: { to: PHONE, ...action.conductor }, file: '' };
  }
}

/** @param {Action} action @param {Place} place */
function curl(action, place) {
  const { path, body, file } = requestOf(action);
  const note = action.type === 'prompt' ? '# The agent or program calls a telephone.\n' : '';
  return note + curlOf(place, path, body, file);
}

/** @param {Action} action @param {Place} place */
function javascript(action, { server, hasKey, key: given = 'YOUR_KEY' }) {
  const key = hasKey
    ? `const key = ${quoted(given)}; // better: a client secret, see ${server}/guide/webrtc\n`
    : '';
  if (action.type === 'text' || action.type === 'prompt') {
    const options = [`url: ${quoted(server)}`, ...(hasKey ? ['key'] : [])];
    if (action.type === 'prompt')
      options.push(...Object.entries(action.conductor).map(([name, value]) => `${name}: ${quoted(value)}`));
    return [
      `import { Parley } from ${quoted(`${server}/parley.js`)};`,
      '',
      `${key}// inside a click handler: browsers block sound before a click`,
      `const call = await Parley.call({ ${options.join(', ')} });`,
      "call.on('caption', ({ who, text }) => console.log(who, text));",
      action.type === 'prompt' ? `call.prompt(${quoted(action.text)});` : sayOf(action),
    ].join('\n');
  }
  const { path, body, file } = requestOf(action);
  const headers = `'Content-Type': 'application/json'${hasKey ? ', Authorization: `Bearer ${key}`' : ''}`;
  return [
    `${key}const answer = await fetch(${quoted(server + path)}, {`,
    "  method: 'POST',",
    `  headers: { ${headers} },`,
    `  body: JSON.stringify(${JSON.stringify(body)}),`,
    '});',
    'if (!answer.ok) throw new Error(await answer.text());',
    file === '' ? 'console.log(await answer.json());' : 'const sound = await answer.blob();',
  ].join('\n');
}

/** @param {Extract<Action, { type: 'text' }>} action */
function sayOf({ text, voice, language }) {
  const options = Object.entries(stated({ voice, language })).map(
    ([name, value]) => `${name}: ${quoted(value)}`,
  );
  return `call.say(${quoted(text)}${options.length === 0 ? '' : `, { ${options.join(', ')} }`});`;
}

/** @param {Action} action @param {Place} place */
function python(action, { server, hasKey, key: given }) {
  const { path, body, file } = requestOf(action);
  const readsKey = hasKey && given === undefined;
  const value = readsKey ? '"Bearer " + os.environ["PARLEY_KEY"]' : JSON.stringify(`Bearer ${given}`);
  const key = hasKey ? [`    "Authorization": ${value},`] : [];
  return [
    `import json, ${readsKey ? 'os, ' : ''}urllib.request`,
    '',
    `request = urllib.request.Request(${JSON.stringify(server + path)}, headers={`,
    '    "Content-Type": "application/json",',
    ...key,
    `}, data=json.dumps(${pythonOf(body)}).encode())`,
    'with urllib.request.urlopen(request) as answer:',
    file === ''
      ? '    print(json.load(answer))'
      : `    open(${JSON.stringify(file)}, "wb").write(answer.read())`,
  ].join('\n');
}

/** @param {Action} action @param {Place} place */
function sip(action, place) {
  if (action.type === 'prompt') {
    const dialled = `sip:100@${new URL(place.server).hostname}`;
    return [
      '# Call the server with any telephone of the network:',
      `baresip -e '/uanew <sip:me@127.0.0.1>;regint=0' -e '/dial ${dialled}'`,
    ].join('\n');
  }
  const { text, voice, language } =
    action.type === 'file'
      ? { text: action.request.input, voice: action.request.voice, language: action.request.language }
      : { voice: '', ...action };
  const say = { text, ...stated({ voice, language }), after: 'hangup' };
  return `# The server calls a telephone and says it.\n${curlOf(place, '/v1/calls', { to: PHONE, say }, '')}`;
}

/** @param {Place} place @param {string} path @param {object} body @param {string} file */
function curlOf({ server, hasKey, key }, path, body, file) {
  const authorization = key === undefined ? AUTHORIZATION : shellQuoted(`Authorization: Bearer ${key}`);
  return [
    `curl ${server}${path}`,
    ...(hasKey ? [`-H ${authorization}`] : []),
    "-H 'Content-Type: application/json'",
    `-d ${shellQuoted(JSON.stringify(body))}`,
    ...(file === '' ? [] : [`-o ${file}`]),
  ].join(' \\\n  ');
}

/** @param {string} text */
function shellQuoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A literal of JavaScript. @param {string} text */
function quoted(text) {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

/** A literal of Python: the strings and numbers of JSON are Python's. @param {object} body */
function pythonOf(body) {
  return JSON.stringify(body);
}

/**
 * The fields that are not empty.
 * @param {Record<string, string | undefined>} fields
 * @returns {Record<string, string>}
 */
function stated(fields) {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

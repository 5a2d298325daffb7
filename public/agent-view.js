// The words of the page while an agent answers its calls, and what a conversation lacks: each part with the
// command that cures it, or with what to do in the browser.
import { copied } from './code-panel.js';

const DEMO_MODEL = 'parley-demo';
const LONGEST_NAME = 40; // characters
const COPIED_MS = 4000;

const IDLE_TALK = 'Press the button and speak. The answer is spoken, and you may interrupt it.';
const IDLE_TYPE = 'Press the button and type. The answer is spoken.';
const ALLOW = 'If your browser asks for the microphone, allow it.';
const HEARD = 'Listening. Speak, or type.';
const UNHEARD = 'Type, or switch your microphone on and talk.';
const DEAF = 'Type: the answer is spoken.';
const ASKS = 'Your browser will ask for the microphone, so that the agent hears you.';
const LISTENS_ONLY = 'Your browser only listens until you switch your microphone on.';
const CANNOT_HEAR = 'The agent cannot hear you, because this server recognises no speech.';
const TYPE = 'You can type to the agent.';

/** The name of who answers, as a person says it: of a file of weights, without folder and extension. */
export function agentName({ id, model }) {
  if (model === DEMO_MODEL) return 'the demo';
  if (model === undefined) return id === 'default' ? 'the agent' : id;
  const name = model.replace(/^.*\/(?=[^/]+\.gguf$)/i, '').replace(/\.gguf$/i, '');
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME).trimEnd()}…` : name;
}

/**
 * The words of the stage. `agent` is the one of the server's list. `isWanted`: calls have the microphone.
 * `noMicrophone` is the reason for which there is none; empty: there is one.
 */
export function stageWords({ agent, isWanted, noMicrophone }) {
  const asks = agent.hears && isWanted && noMicrophone === '';
  const hint = !agent.hears
    ? CANNOT_HEAR
    : noMicrophone !== ''
      ? `${noMicrophone} ${TYPE}`
      : isWanted
        ? ASKS
        : LISTENS_ONLY;
  return {
    asks,
    title: `Talk to ${agentName(agent)}`,
    intro: asks ? IDLE_TALK : IDLE_TYPE,
    connecting: asks ? ALLOW : '',
    button: asks ? 'Start talking' : 'Start and type',
    hint,
  };
}

/** The words of an open call in which nothing is being spoken. */
export function readyWords({ agent, hasMicrophone }) {
  return agent?.hears === false ? DEAF : hasMicrophone ? HEARD : UNHEARD;
}

/**
 * The parts that a conversation lacks, as {what, text, command?, after?, link?}. A microphone is missed only by an agent that
 * hears.
 */
export function missingParts({ agent, earsCommand, voiceCommand, noMicrophone }) {
  if (agent === undefined) return [];
  const parts = [];
  const then = 'Then restart the server.';
  if (agent.model === DEMO_MODEL)
    parts.push({
      what: 'No language model',
      text: 'A demo repeats what you say. Start a chat server on the machine of this server, such as Ollama:',
      command: 'ollama pull qwen3:4b && npm run talk',
      link: { href: 'guide/quick-start#talk-to-a-language-model', text: 'Other chat servers' },
    });
  if (!agent.hears) {
    const more = voiceCommand === undefined ? '' : ' and a neural voice';
    const cure = earsCommand === undefined ? '' : ` This fetches ears${more}, for English:`;
    parts.push({
      what: 'No ears',
      text: `The server recognises no speech, so you type.${cure}`,
      command: earsCommand,
      after: earsCommand && then,
      link: { href: 'guide/recognition', text: 'Other languages' },
    });
  } else if (voiceCommand !== undefined)
    parts.push({
      what: 'A plain voice',
      text: 'No voice of this server is neural. This fetches one:',
      command: voiceCommand,
      after: then,
    });
  if (agent.hears && noMicrophone !== '')
    parts.push({ what: 'No microphone', text: `${noMicrophone} Meanwhile you can type.` });
  return parts;
}

/** Shows the parts of `missingParts` in a list; `section` is hidden while there are none. */
export class MissingList {
  #section;
  #list;
  #note;
  #shown = '';
  #timer;

  constructor({ section, list, note }) {
    [this.#section, this.#list, this.#note] = [section, list, note];
  }

  show(parts) {
    const text = JSON.stringify(parts);
    if (text === this.#shown) return; // a screen reader would read it again
    this.#shown = text;
    this.#section.hidden = parts.length === 0;
    this.#list.replaceChildren(...parts.map((part) => this.#item(part)));
  }

  #item({ what, text, command, after, link }) {
    const item = document.createElement('li');
    const line = document.createElement('p');
    line.append(made('strong', `${what}.`), ` ${text}`);
    item.append(line);
    if (command !== undefined) item.append(this.#command(command, what));
    const rest = document.createElement('p');
    rest.className = 'hint';
    if (after !== undefined) rest.append(`${after} `);
    if (link !== undefined) rest.append(made('a', link.text, { href: link.href }));
    if (rest.childNodes.length > 0) item.append(rest);
    return item;
  }

  #command(command, what) {
    const code = made('code', command);
    const name = `Copy the command for: ${what}`;
    const button = made('button', 'Copy', { type: 'button', className: 'button small', ariaLabel: name });
    button.addEventListener('click', async () => {
      const isCopied = await copied(command, code);
      this.#note.textContent = isCopied
        ? 'Copied.'
        : 'The browser does not let the page copy: the command is selected.';
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => (this.#note.textContent = ''), COPIED_MS);
    });
    const row = document.createElement('div');
    row.className = 'cure';
    row.append(code, button);
    return row;
  }
}

function made(tag, textContent, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent, ...properties });
}

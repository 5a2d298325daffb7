// The page: joins the call, the form, the transcript, the caller's microphone and the figures.
//
//   idle ──▶ connecting ──▶ live ⇄ speaking ⇄ paused (the caller has begun to speak)
//     ▲           │         ▲ │       │ ▲       │
//     │           │         │ ▼       ▼ │       │
//     │           │        reconnecting ◀───────┘
//     └───────────┴─────────────┘   (failed is idle with a reason)
import { Caller } from './caller.js';
import { Figures } from './figures.js';
import { joinListening } from './listen.js';
import { Meter } from './meter.js';
import { ParleyCall } from './parley.js';
import { authorization, CallError, refusalOf, WRONG_KEY } from './parley-http.js';
import { joinTabs } from './tabs.js';
import { Transcript } from './transcript.js';

const STATES = {
  idle: 'Not in a call',
  connecting: 'Connecting…',
  live: 'On the line',
  speaking: 'Speaking',
  paused: 'Paused',
  reconnecting: 'Reconnecting…',
  failed: 'Call ended',
};
const INTRO = 'Start a call and every sentence you type is spoken to you as it is being made.';
const READY = 'You are on the line. Type something below, and it is spoken at once.';
const AGENT_READY = 'You are on the line with the agent. Switch your microphone on and talk, or type.';
const NO_ANSWER = 'The server does not answer. Reload the page once it is running.';
const FIGURES_MS = 1000;
const LAST_WORDS_MS = 500; // for the server to tell what was heard; then the call ends anyway
const TOKEN_CHARACTERS = 8000; // a message of this many stays below what the server takes at once
const LANGUAGES = new Intl.DisplayNames('en', { type: 'language' });

const element = (id) => document.getElementById(id);
const meter = new Meter(element('meter'));
const figures = new Figures(element);
const transcript = new Transcript({
  list: element('transcript'),
  empty: element('transcript-empty'),
  announce: element('announce'),
});
const caller = new Caller({
  microphone: element('microphone'),
  interrupt: element('interrupt'),
  level: element('caller-meter'),
  levelNames: document.querySelectorAll('.meter-name'),
  who: element('who'),
  announce: element('who-announce'),
  showProblem,
});

let state = 'idle';
let call;
let key = '';
/** Texts to be sent as soon as the call is open. */
let unsent = [];
let textLength = Infinity;
/** Name of the agent that talks in the call; undefined: what is typed is spoken. */
let agent;
/** The server has told what the call is. */
let isReady = false;
/** Called when the server has told what was heard of a call that is being ended. */
let hangingUp;
/** The number of the utterance whose sentence is shown. */
let shown;
let openedAt = 0;
let ticking;

function setState(next) {
  state = next;
  const inCall = isOpen() || state === 'connecting';
  element('state').dataset.state = state;
  if (element('state-text').textContent !== STATES[state]) element('state-text').textContent = STATES[state];
  element('call').dataset.action = inCall ? 'stop' : 'start';
  element('call-label').textContent = state === 'connecting' ? 'Cancel' : inCall ? 'Hang up' : 'Start call';
  element('call-hint').hidden = inCall;
  element('clock').hidden = !isOpen();
  element('clear').disabled = !transcript.busy;
}

/** The call takes messages. While it reconnects they wait. */
function isOpen() {
  return isConnected() || state === 'reconnecting';
}

function isConnected() {
  return state === 'live' || state === 'speaking' || state === 'paused';
}

function showProblem(text) {
  element('problem').hidden = text === '';
  element('problem-text').textContent = text;
}

function askForKey() {
  if (key !== '') showProblem(WRONG_KEY);
  element('key-form').hidden = false;
  element('key').focus();
}

async function startCall() {
  showProblem('');
  figures.reset();
  setState('connecting');
  const opening = new ParleyCall({ key });
  const listen = (type, listener) =>
    opening.addEventListener(type, ({ detail }) => call === opening && listener(detail));
  listen('message', read);
  listen('sound', play);
  listen('state', callChanged);
  call = opening;
  await caller.join(opening);
  if (call !== opening) return; // cancelled meanwhile
  try {
    await opening.open();
  } catch (error) {
    if (call !== opening) return; // cancelled meanwhile
    endCall(error instanceof CallError ? error.message : 'The call could not be opened.');
    if (error.status === 401) askForKey();
    return;
  }
  if (call === opening) began();
}

/** Of a call that has begun; its opening is `startCall`'s. */
function callChanged({ state: next, reason }) {
  if (!isOpen()) return;
  if (next === 'reconnecting') {
    setState('reconnecting');
    showProblem(`${reason} Trying to reconnect.`);
  } else if (next === 'open') {
    setState(shown === undefined ? 'live' : 'speaking');
    showProblem('');
  } else if (next === 'ended') {
    endCall(reason);
  }
}

function began() {
  openedAt = performance.now();
  showSentence('');
  setState('live');
  caller.began();
  void tick();
  ticking = setInterval(() => void tick(), FIGURES_MS);
  sayUnsent();
}

/** Whether a text is spoken, or said to an agent, is known once the server has told what the call is. */
function sayUnsent() {
  if (isReady && isOpen()) for (const spoken of unsent.splice(0)) say(spoken);
}

function showAgent(name) {
  agent = name;
  const talks = agent !== undefined;
  element('composer-title').textContent = talks ? 'What do you say to the agent?' : 'What should be said?';
  element('speak').textContent = talks ? 'Send' : 'Speak';
  if (shown === undefined) element('now').textContent = talks ? AGENT_READY : READY;
}

/** Asks first what was heard of what is being spoken; the transcript would not know it otherwise. */
function hangUp() {
  if ((state !== 'speaking' && state !== 'paused') || !call?.send({ type: 'clear' })) return endCall();
  const leaving = call;
  hangingUp = () => call === leaving && endCall();
  setTimeout(hangingUp, LAST_WORDS_MS);
}

/** With a reason when it was not the user who ended it. */
function endCall(reason = '') {
  const ending = call;
  call = undefined;
  ending?.close();
  caller.left();
  hangingUp = undefined;
  unsent = [];
  isReady = false;
  showAgent(undefined);
  clearInterval(ticking);
  meter.stop();
  element('sound').srcObject = null;
  transcript.stop();
  showSentence('');
  element('now').textContent = INTRO;
  setState(reason === '' ? 'idle' : 'failed');
  if (reason !== '') showProblem(reason);
}

function play(stream) {
  const sound = element('sound');
  sound.srcObject = stream;
  sound
    .play()
    .catch(() => showProblem('Your browser holds the sound back. Press anywhere on the page to hear it.'));
  addEventListener('pointerdown', () => void sound.play().catch(() => undefined), { once: true });
  meter.start(stream);
}

async function tick() {
  const seconds = Math.floor((performance.now() - openedAt) / 1000);
  element('clock').textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const measured = await call?.figures().catch(() => undefined);
  if (measured !== undefined) figures.browser(measured);
}

/** The sentence that is on the wire now, or none. */
function showSentence(text, utterance) {
  shown = utterance;
  document.querySelector('.caption').classList.toggle('speaking', text !== '');
  element('now').textContent = text || (agent === undefined ? READY : AGENT_READY);
  if (isConnected()) setState(text === '' ? 'live' : 'speaking');
}

function read(message) {
  caller.read(message);
  switch (message.type) {
    case 'ready':
      figures.call(message);
      textLength = message.limits?.textLength ?? Infinity;
      countCharacters();
      isReady = true;
      showAgent(message.agent);
      sayUnsent();
      break;
    case 'agent.prompt':
      transcript.said(message.text);
      break;
    case 'agent.failed':
      showProblem(message.error.message);
      break;
    case 'cleared':
      hangingUp?.();
      break;
    case 'stats':
      figures.server(message.stats ?? message);
      break;
    case 'error':
      showProblem(message.error?.message ?? 'The server could not use what it was sent.');
      refused(message.error);
      setState(state);
      break;
    case 'utterance.paused':
    case 'utterance.resumed':
      transcript.apply(message);
      if (message.utterance === shown && isConnected())
        setState(message.type === 'utterance.paused' ? 'paused' : 'speaking');
      break;
    case 'turn.ended':
    case 'no_input':
      if (agent === undefined) transcript.apply(message); // what was said is told by the agent
      break;
    case 'utterance.started':
      figures.firstPacket(message.firstPacketMs, message.queuedMs);
      transcript.apply(message);
      break;
    case 'sentence.started':
      showSentence(message.text, message.utterance);
      transcript.apply(message);
      break;
    default:
      if (message.type?.startsWith('utterance.') || message.type?.startsWith('sentence.')) {
        transcript.apply(message);
        if (message.type.startsWith('utterance.') && message.utterance === shown) showSentence('');
        setState(state);
      }
  }
}

/** A server that cannot hear the caller refuses `listen`, and texts that speech may interrupt. */
function refused({ code, message } = {}) {
  const isUnheard = code === 'CALL_STATE';
  if (!isUnheard || caller.interruptible !== undefined) transcript.refuse(message);
  if (isUnheard) caller.notHeard();
}

function say({ text, voice }) {
  if (agent !== undefined) {
    call?.prompt(text);
    return;
  }
  const tokens = text.match(new RegExp(`[^]{1,${TOKEN_CHARACTERS}}`, 'gu'));
  const { interruptible } = caller;
  const chosen = {
    ...(voice === '' ? {} : { voice }),
    ...(interruptible === undefined ? {} : { interruptible }),
  };
  const sent = tokens.every((token, index) => {
    const last = index === tokens.length - 1;
    return call?.send({ type: 'text', token, last, ...(index === 0 ? chosen : {}) });
  });
  if (sent) transcript.add(text);
  setState(state);
}

function speak() {
  const field = element('text');
  const text = field.value.trim();
  if (text === '') return field.focus();
  showProblem('');
  const spoken = { text, voice: element('voice').value };
  field.value = '';
  countCharacters();
  if (isOpen()) return say(spoken);
  unsent.push(spoken);
  if (state !== 'connecting') void startCall();
}

function interrupt() {
  if (transcript.busy) call?.send({ type: 'clear' });
}

/** Shown when the end of what the server takes comes near. */
function countCharacters() {
  const { length } = element('text').value;
  const count = element('count');
  count.hidden = length < textLength * 0.8;
  count.textContent = `${length.toLocaleString('en')} of ${textLength.toLocaleString('en')} characters`;
  count.classList.toggle('over', length > textLength);
  element('speak').disabled = length > textLength;
}

async function loadVoices() {
  const answer = await fetch('v1/audio/voices', { headers: authorization(key) }).catch((cause) => {
    throw new CallError(NO_ANSWER, 0, { cause });
  });
  if (answer.status === 401) return askForKey();
  if (!answer.ok) throw await refusalOf(answer);
  const { voices } = await answer.json();
  element('key-form').hidden = true;
  const automatic = new Option('Automatic, by language', '');
  element('voice').replaceChildren(automatic, ...groupsOf(voices));
}

async function showVoices() {
  try {
    await loadVoices();
  } catch (error) {
    if (error.status === 401) askForKey();
    else showProblem(error instanceof CallError ? error.message : NO_ANSWER);
  }
}

/** A group for each engine, by name within it; an engine of one language is named with that. */
function groupsOf(voices) {
  const engines = [...new Set(voices.map(({ engine }) => engine))];
  return engines.map((engine) => {
    const own = voices.filter((voice) => voice.engine === engine);
    const languages = new Set(own.map(({ languages: [tag] }) => tag?.split('-')[0]));
    const [language] = languages;
    const group = document.createElement('optgroup');
    group.label = languages.size === 1 && language ? `${LANGUAGES.of(language)} · ${engine}` : engine;
    const options = own.map(({ name, description }) => new Option(`${description || name} (${name})`, name));
    group.append(...options.sort((a, b) => a.text.localeCompare(b.text)));
    return group;
  });
}

function start() {
  element('call').addEventListener('click', () => {
    if (element('call').dataset.action === 'start') void startCall();
    else hangUp();
  });
  element('speak-form').addEventListener('submit', (event) => {
    event.preventDefault();
    speak();
  });
  element('text').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!element('speak').disabled) speak();
  });
  element('text').addEventListener('input', countCharacters);
  element('clear').addEventListener('click', interrupt);
  addEventListener('keydown', (event) => event.key === 'Escape' && interrupt());
  element('problem-close').addEventListener('click', () => showProblem(''));
  element('key-form').addEventListener('submit', (event) => {
    event.preventDefault();
    key = element('key').value.trim();
    showProblem('');
    void showVoices();
  });
  for (const chip of document.querySelectorAll('.chip')) {
    chip.addEventListener('click', () => {
      element('text').value = chip.dataset.text;
      countCharacters();
      element('text').focus();
    });
  }
  addEventListener('pagehide', () => endCall());
  const tabs = [...document.querySelectorAll('[role=tab]')];
  joinTabs(tabs, ({ id }) => (element('skip').hidden = id !== 'speak-tab'));
  joinListening(element, { key: () => key, askForKey, showProblem });
  setState('idle');
  void showVoices();
}

start();

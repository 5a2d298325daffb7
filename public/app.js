// The page: joins the call, the form, the transcript, the caller's microphone and the figures.
//
//   idle ──▶ connecting ──▶ live ⇄ speaking ⇄ paused (the caller has begun to speak)
//     ▲           │         ▲ │       │ ▲       │
//     │           │         │ ▼       ▼ │       │
//     │           │        reconnecting ◀───────┘
//     └───────────┴─────────────┘   (failed is idle with a reason)
import { isInsecure, serverAbilities, watchMicrophone } from './abilities.js';
import { MissingList, missingParts, readyWords, stageWords } from './agent-view.js';
import { Caller } from './caller.js';
import { joinCode } from './code-panel.js';
import { Figures } from './figures.js';
import { joinListening } from './listen.js';
import { Keypad } from './keypad.js';
import { Meter } from './meter.js';
import { CallError, Parley } from './parley.js';
import { WRONG_KEY } from './parley-http.js';
import { joinReading } from './reading.js';
import { makeSpeech, soundOf, SpeechSettings } from './speech-file.js';
import { Notices } from './notices.js';
import { spokenNodes, spokenText } from './spoken-text.js';
import { joinTabs } from './tabs.js';
import { Transcript } from './transcript.js';
import { VoiceField } from './voices.js';

const STATES = {
  idle: 'Not in a call',
  connecting: 'Connecting…',
  live: 'On the line',
  speaking: 'Speaking',
  paused: 'Paused',
  reconnecting: 'Reconnecting…',
  failed: 'Call ended',
};
/** The program that conducts the calls of this page, of its address: `?program=example`. */
const PROGRAM = new URLSearchParams(location.search).get('program') ?? undefined;
const INTRO = 'Start a call and every sentence you type is spoken to you as it is being made.';
const READY = 'You are on the line. Type something below, and it is spoken at once.';
const LISTENS_ONLY = 'Your browser only listens until you switch your microphone on.';
const PROGRAM_INTRO = 'A call program conducts the call. Press keys, speak, or type what you would say.';
const ASKED = `What do you say to the ${PROGRAM === undefined ? 'agent' : 'program'}?`;
const TALK_TITLE = PROGRAM === undefined ? 'Talk to the agent' : `Call the program ${PROGRAM}`;
const TITLE = 'Type it. Hear\u00a0it\u00a0spoken.';
const PAGE_TITLE = document.title;
const PLACEHOLDER = document.getElementById('text').placeholder;
const FIGURES_MS = 1000;
const LAST_WORDS_MS = 500; // for the server to tell what was heard; then the call ends anyway

const element = (id) => document.getElementById(id);
const page = {
  key: () => key,
  askForKey,
  keyAccepted,
  showProblem,
  did: (action) => showCode(action),
};
const notices = new Notices(element('notices'), [element('text'), element('listen')]);
const meter = new Meter(element('meter'));
const figures = new Figures(element);
const settings = new SpeechSettings(element);
const voices = new VoiceField(element, page);
const transcript = new Transcript({
  list: element('transcript'),
  empty: element('transcript-empty'),
  announce: element('announce'),
  onReplay: (text, entry) => void makeFile(text, entry),
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

const keypad = new Keypad({
  section: element('keypad'),
  keys: element('keypad-keys'),
  verb: element('verb'),
  press: (key) => call?.press(key),
});
const missing = new MissingList({
  section: element('missing'),
  list: element('missing-list'),
  note: element('missing-note'),
});

let state = 'idle';
let call;
/** Cancels the call that is being opened, or is open. */
let ending;
let key = '';
/** The agent that answers calls, {id, model, hears}; undefined: none does. */
let agent;
/** The commands that fetch what the server lacks; undefined: it lacks nothing, or no command helps. */
let cures = { voiceCommand: undefined, earsCommand: undefined };
/** The reason for which there is no microphone; empty: there is one. */
let noMicrophone = '';
let showCode = () => undefined;
let showRecognition = () => undefined;
let textChanged = () => undefined;
/** Texts to be sent as soon as the call is open. */
let unsent = [];
let textLength = Infinity;
/** Called when the server has told what was heard of a call that is being ended. */
let hangingUp;
/** The number of the utterance whose sentence is shown, and the sentence with its Markdown. */
let shown;
let sentence = '';
let openedAt = 0;
let ticking;

function setState(next) {
  state = next;
  const inCall = isOpen() || state === 'connecting';
  element('state').dataset.state = state;
  if (element('state-text').textContent !== STATES[state]) element('state-text').textContent = STATES[state];
  element('call').dataset.action = inCall ? 'stop' : 'start';
  element('call-hint').hidden = inCall;
  element('clock').hidden = !isOpen();
  const hadFocus = document.activeElement === element('clear');
  element('clear').disabled = !transcript.busy;
  if (hadFocus && element('clear').disabled) element('text').focus(); // a disabled button keeps no focus
  showAgent();
}

/** The call takes messages. While it reconnects they wait. */
function isOpen() {
  return isConnected() || state === 'reconnecting';
}

function isConnected() {
  return state === 'live' || state === 'speaking' || state === 'paused';
}

function showProblem(text) {
  if (text === '') notices.hide(element('problem'));
  else element('problem').hidden = false;
  element('problem-text').textContent = text;
}

function askForKey() {
  if (key !== '') showProblem(WRONG_KEY);
  element('key-form').hidden = false;
  element('key').focus();
}

/** The server has accepted the key, or asks for none. */
async function keyAccepted() {
  notices.hide(element('key-form'));
  showCode();
  const abilities = await serverAbilities(key);
  agent = abilities.agent;
  const { voiceCommand, earsCommand } = abilities;
  cures = { voiceCommand, earsCommand };
  showRecognition(abilities.recognises, earsCommand);
  element('voice-command-hint').hidden = voiceCommand === undefined;
  element('voice-command').textContent = voiceCommand ?? '';
  element('unheard-hint').hidden = abilities.unheardLanguages.length === 0;
  element('unheard-languages').textContent = abilities.unheardLanguages.join(', ');
  showWeights(abilities.weights);
  if (agent?.hears && !isInsecure()) caller.suggest();
  element('workbench').open = agent === undefined;
  showAgent();
}

/** Licences ask for the credit where the models are used. */
function showWeights(weights) {
  element('weights-hint').hidden = weights.length === 0;
  element('weights').replaceChildren(
    ...weights.flatMap(({ name, credit, licence, link }, index) => {
      const terms = Object.assign(document.createElement('a'), { href: link, textContent: licence });
      return [index > 0 ? '; ' : '', `${name}: ${credit}, `, terms];
    }),
  );
}

async function startCall() {
  showProblem('');
  figures.reset();
  setState('connecting');
  const own = new AbortController();
  ending = own;
  const { signal } = own;
  /** Nothing of a call that the user has left is shown. */
  const ifCurrent = (listener) => (event) => ending === own && listener(event);
  const on = {
    message: ifCurrent(read),
    sound: ifCurrent((stream) => meter.start(stream)),
    state: ifCurrent(callChanged),
    microphone: ifCurrent((stream) => {
      caller.changed(stream);
      showAgent();
    }),
    caption: ifCurrent((caption) => caption.who === 'caller' && transcript.callerCaption(caption)),
    word: ifCurrent(showWord),
    error: ifCurrent(showError),
  };
  const microphone = caller.isWanted ? 'optional' : false;
  try {
    const opened = await Parley.call({ key, microphone, captions: true, on, signal, program: PROGRAM });
    if (ending === own) began(opened);
  } catch (error) {
    if (ending !== own) return; // cancelled meanwhile
    endCall(error instanceof CallError ? error.message : 'The call could not be opened.');
    if (error.status === 401) askForKey();
  }
}

/** The call goes on. */
function showError({ message, code }) {
  if (code === 'MICROPHONE') caller.switchOff();
  showProblem(message);
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

function began(opened) {
  call = opened;
  openedAt = performance.now();
  showAgent();
  setState(shown === undefined ? 'live' : 'speaking');
  caller.began(call);
  keypad.began(call.program);
  void tick();
  ticking = setInterval(() => void tick(), FIGURES_MS);
  for (const spoken of unsent.splice(0)) say(spoken);
}

/** A typed text is said to the agent, if one talks in the call or will talk in the next one. */
function showAgent() {
  const hasAgent = PROGRAM === undefined && (call === undefined ? agent : call.agent) !== undefined;
  const talks = hasAgent || PROGRAM !== undefined;
  const { dataset } = document.body;
  [dataset.talks, dataset.hears] = [String(talks), String(agent?.hears === true)];
  element('composer-title').textContent = talks ? ASKED : 'What should be said?';
  element('speak').textContent = talks ? 'Send' : 'Speak';
  element('text').placeholder = talks ? 'Type what you would say.' : PLACEHOLDER;
  element('enter-does').textContent = talks ? 'sends' : 'speaks';
  element('speak-tab').textContent = talks ? 'Talk' : 'Speak';
  figures.hasAgent = hasAgent;
  const words =
    hasAgent && agent !== undefined && stageWords({ agent, isWanted: caller.isWanted, noMicrophone });
  element('stage-title').textContent = !talks ? TITLE : words ? words.title : TALK_TITLE;
  document.title = words ? words.title : PAGE_TITLE;
  element('call-hint').textContent = words ? words.hint : LISTENS_ONLY;
  const begins = words ? words.button : 'Start call';
  const inCall = isOpen() || state === 'connecting';
  element('call-label').textContent = state === 'connecting' ? 'Cancel' : inCall ? 'Hang up' : begins;
  element('call').dataset.asks = String(!inCall && words && words.asks);
  missing.show(missingParts({ agent, ...cures, noMicrophone }));
  if (shown === undefined) element('now').textContent = nowWords(talks, words || undefined);
}

/** The line below the title while nothing is being spoken. */
function nowWords(talks, words) {
  if (PROGRAM !== undefined) return PROGRAM_INTRO;
  if (call !== undefined)
    return talks ? readyWords({ agent, hasMicrophone: call.microphone !== undefined }) : READY;
  if (state === 'connecting' && words !== undefined) return words.connecting;
  return words?.intro ?? INTRO;
}

/** Asks first what was heard of what is being spoken; the transcript would not know it otherwise. */
function hangUp() {
  if ((state !== 'speaking' && state !== 'paused') || !call?.interrupt()) return endCall();
  const leaving = call;
  hangingUp = () => call === leaving && endCall();
  setTimeout(hangingUp, LAST_WORDS_MS);
}

/** With a reason when it was not the user who ended it. */
function endCall(reason = '') {
  const leaving = ending;
  [ending, call, hangingUp, unsent] = [undefined, undefined, undefined, []];
  leaving?.abort();
  caller.left();
  keypad.left();
  clearInterval(ticking);
  meter.stop();
  transcript.stop();
  showSentence('');
  showAgent();
  setState(reason === '' ? 'idle' : 'failed');
  if (reason !== '') showProblem(reason);
}

async function tick() {
  const seconds = Math.floor((performance.now() - openedAt) / 1000);
  element('clock').textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const measured = await call?.figures().catch(() => undefined);
  if (measured !== undefined) figures.browser(measured);
}

/** The sentence that is on the wire now, or none. */
function showSentence(text, utterance) {
  [shown, sentence] = [utterance, text];
  document.querySelector('.caption').classList.toggle('speaking', text !== '');
  if (text === '') showAgent();
  else element('now').textContent = spokenText(text);
  if (isConnected()) setState(text === '' ? 'live' : 'speaking');
}

/** The word that is heard now. */
function showWord(word) {
  transcript.wordBegins(word);
  const place = { from: word.start, to: word.end };
  if (word.utterance === shown) element('now').replaceChildren(...spokenNodes(sentence, { word: place }));
}

function read(message) {
  caller.read(message);
  keypad.read(message);
  switch (message.type) {
    case 'ready':
      figures.call(message);
      textLength = message.limits?.textLength ?? Infinity;
      countCharacters();
      break;
    case 'agent.answered':
      figures.answer(message);
      transcript.agentAnswered(message.totalMs);
      break;
    case 'cleared':
      hangingUp?.();
      break;
    case 'stats':
      figures.server(message.stats ?? message);
      break;
    case 'error':
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
      if (call?.agent === undefined) transcript.apply(message); // the agent tells what was said
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

function say({ text, voice, language }) {
  const { agent: name, program } = call;
  if (name !== undefined || program !== undefined) {
    if (!call.prompt(text)) return unsaid(text);
    return page.did({
      type: 'prompt',
      text,
      conductor: program === undefined ? { agent: name } : { program },
    });
  }
  const { interruptible } = caller;
  const sent = call.say(text, {
    ...(voice === '' ? {} : { voice }),
    ...(language === '' ? {} : { language }),
    ...(interruptible === undefined ? {} : { interruptible }),
  });
  if (!sent) return unsaid(text);
  transcript.add(text, voice);
  setState(state);
  return page.did({ type: 'text', text, voice, language });
}

/** Gives a text back that the call does not take: too much waits for its connection already. */
function unsaid(text) {
  showProblem(
    'The text was not sent: the connection is lost, and too many texts wait for it. Try again later.',
  );
  const field = element('text');
  if (field.value === '') field.value = text;
  countCharacters();
  textChanged();
}

/** The text of the field, which is empty from now on; undefined: there was none. */
function takeText() {
  const field = element('text');
  const text = field.value.trim();
  if (text === '') {
    field.focus();
    return undefined;
  }
  showProblem('');
  field.value = '';
  countCharacters();
  textChanged();
  return text;
}

function speak() {
  const text = takeText();
  if (text === undefined) return undefined;
  const spoken = { text, voice: voices.chosen, language: settings.language };
  if (isOpen()) return say(spoken);
  unsent.push(spoken);
  if (state !== 'connecting') void startCall();
  return undefined;
}

/** Makes a file of a text, for the entry of the transcript that has it, or for a new one. */
async function makeFile(text, entry) {
  const voice = entry?.voice ?? voices.chosen;
  const shownIn = entry ?? transcript.addFile(text, voice);
  const request = settings.requestFor(text, voice);
  shownIn.showSound(undefined);
  page.did({ type: 'file', request });
  try {
    const sound = soundOf(await makeSpeech(request, key), request, shownIn.name);
    shownIn.showSound(sound);
    await sound.querySelector('audio')?.play();
  } catch (error) {
    if (!(error instanceof CallError)) return; // the browser does not play it by itself; the user can
    shownIn.showFailure(error.message);
    if (error.status === 401) askForKey();
  }
}

function interrupt() {
  if (transcript.busy) call?.interrupt();
}

/** Shown when the end of what the server takes comes near. */
function countCharacters() {
  const { length } = element('text').value;
  const count = element('count');
  count.hidden = length < textLength * 0.8;
  count.textContent = `${length.toLocaleString('en')} of ${textLength.toLocaleString('en')} characters`;
  count.classList.toggle('over', length > textLength);
  element('speak').disabled = element('make').disabled = length > textLength;
}

function joinForm() {
  element('speak-form').addEventListener('submit', (event) => {
    event.preventDefault();
    speak();
  });
  element('make').addEventListener('click', () => {
    const text = takeText();
    if (text !== undefined) void makeFile(text);
  });
  element('text').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!element('speak').disabled) speak();
  });
  element('text').addEventListener('input', countCharacters);
  for (const chip of document.querySelectorAll('.chip[data-text]')) {
    chip.addEventListener('click', () => {
      element('text').value = chip.dataset.text;
      countCharacters();
      textChanged();
      element('text').focus();
    });
  }
}

function hasKeyboard() {
  return !matchMedia('(pointer: coarse)').matches;
}

function start() {
  element('call').addEventListener('click', () => {
    if (element('call').dataset.action !== 'start') return hangUp();
    void startCall();
    // On the button, which hangs up now, a space of what the user types would end the call. Fingers type on a
    // keyboard of the screen, which would cover the conversation.
    return hasKeyboard() ? element('text').focus() : element('call').blur();
  });
  element('microphone').addEventListener('change', showAgent);
  void watchMicrophone((reason) => {
    noMicrophone = reason;
    element('microphone-missing').textContent = reason;
    element('microphone-missing').hidden = reason === '';
    showAgent();
  });
  element('clear').addEventListener('click', interrupt);
  addEventListener('keydown', (event) => event.key === 'Escape' && interrupt());
  element('problem-close').addEventListener('click', () => showProblem(''));
  element('key-form').addEventListener('submit', (event) => {
    event.preventDefault();
    key = element('key').value.trim();
    showProblem('');
    void voices.load();
  });
  addEventListener('pagehide', () => endCall());
  joinForm();
  const tabs = [...document.querySelectorAll('[role=tab]')];
  joinTabs(tabs, ({ id }) => (element('skip').hidden = id !== 'speak-tab'));
  showRecognition = joinListening(element, page);
  const first = { type: 'text', text: document.querySelector('.chip').dataset.text, voice: '', language: '' };
  showCode = joinCode(element, first, () => key);
  textChanged = joinReading(element, {
    ...page,
    text: () => element('text').value.trim(),
    language: () => settings.language,
  });
  setState('idle');
  void voices.load();
}

start();

// The session of a call in Twilio's ConversationRelay protocol: what the caller does becomes messages to the
// application, and its messages become speech. It outlives a lost socket.
//
//   caller: turns, keys, interruptions ─▶ setup, prompt, dtmf, interrupt, info ─▶ application
//   application: text, play, sendDigits, language, end ─▶ utterances, digits, the end of the call
//
// https://www.twilio.com/docs/voice/conversationrelay/websocket-messages
import type { CallerTexts, ExpectedSpeech } from '../../call/caller-texts.js';
import type { HandledCall } from '../../call/call-handler.js';
import type { Interruptible, Utterance } from '../../call/utterance.js';
import { Conversation, type ConversationListener, type SaidTurn } from '../../agents/conversation.js';
import type { SpeechRouting, VoiceRequest } from '../../engines/routing.js';
import type { RelayAttributes } from '../../config/relay-config.js';
import { fixedSilence } from '../../hearing/hearing-settings.js';
import { IdleCaller } from '../../agents/idle-caller.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { PlayedSound } from '../../speaking/speech-piece.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import type { Time } from '../../time.js';
import {
  type PlayMessage,
  readRelayMessage,
  type RelayMessage,
  type TextMessage,
  wordsOf,
} from './relay-messages.js';
import { RelayText } from './relay-text.js';
import type { Log } from '../../log.js';

export interface RelayParts {
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly sounds: {
    read(source: string, field: string, signal: AbortSignal): Promise<PlayedSound>;
  };
  readonly routing: Pick<SpeechRouting, 'resolve'>;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  readonly log: Log;
}

/** A message to the application. */
export interface RelayEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The application's side of the session. */
interface RelayPeer {
  send(message: RelayEvent): void;
  /** Too many of its messages could not be read. */
  refuse(): void;
  /** It has ended the session, with data for whoever handles the call next. */
  ended(handoffData: string | undefined): void;
}

/** Characters that wait to be spoken: the application should pause, may go on, or is refused. */
const PAUSE_CHARACTERS = 4000;
const RESUME_CHARACTERS = 1000;
const MOST_CHARACTERS = 64_000;
const MOST_BAD = 10; // messages in a row, as with Twilio
const MOST_MARKS = 1000;
const MOST_FETCHING = 16;
/** Milliseconds after an interruption in which the application may not know of it. */
const KNOWN_MS = 300;

/** A text that was given up before its end. */
interface PassedText {
  readonly id: string | undefined;
  readonly sinceMs: number;
  /** From then on a token without an id belongs to another text. */
  untilMs: number;
}

export class RelaySession {
  readonly #handled: HandledCall;
  readonly #config: RelayAttributes;
  readonly #parts: RelayParts;
  readonly #peer: RelayPeer;
  readonly #conversation: Conversation;
  readonly #idle: IdleCaller;
  readonly #texts = new Map<number, RelayText>();
  readonly #end = new AbortController();
  #open: RelayText | undefined;
  /**
   * The text that was open was given up: what still comes of it is passed over, until its end, the next one
   * by its `utteranceId`, or the answer to what the caller did next.
   */
  #passed: PassedText | undefined;
  /** Texts that wait for a sound before them. */
  readonly #behind = new Set<RelayText>();
  /** Sounds that are fetched. */
  #fetching = 0;
  /** Sounds that are queued, by utterance: the next text may end them. */
  readonly #sounds = new Map<number, boolean>();
  readonly #unknown = new Set<string>();
  #ttsLanguage: string;
  #isPaused = false;
  /** The application is there. */
  #isAttached = false;
  #badMessages = 0;
  /** Changes with each interruption: marks from before it are not told. */
  #generation = 0;
  #marks = 0;
  /** The caller heard this much of the utterances that one interruption ended. */
  #cut: { heard: string; durationMs: number; id: string | undefined } | undefined;
  /** An order of the application's own interrupts. */
  #isOrdered = false;
  #heard: Promise<void> = Promise.resolve();

  constructor(handled: HandledCall, config: RelayAttributes, parts: RelayParts, peer: RelayPeer) {
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#peer = peer;
    this.#ttsLanguage = config.ttsLanguage;
    this.#idle = this.#idleCaller();
    const { interruptSensitivity: sensitivity, ignoreBackchannel, speechTimeoutMs } = config;
    const timeout = speechTimeoutMs === undefined ? {} : fixedSilence(speechTimeoutMs);
    this.#conversation = new Conversation(handled, this.#listener(), parts, {
      expected: this.#expected(config.transcriptionLanguage),
      hearing: { sensitivity, ignoreBackchannel, ignoreDistant: false, ...timeout },
    });
  }

  #expected(language: string): ExpectedSpeech {
    const { hints, smartFormat } = this.#config;
    return { language, context: hints, ...(smartFormat === undefined ? {} : { smartFormat }) };
  }

  /** The application is there: at first, or again. */
  attached(isResumed: boolean): void {
    const { welcomeGreeting: greeting, welcomeGreetingInterruptible: interruptible } = this.#config;
    this.#isAttached = true;
    if (greeting !== undefined && !isResumed) this.say(greeting, interruptible);
    this.#idle.look();
  }

  /** The caller has done something that the session does not see. */
  callerActs(): void {
    this.#idle.acts();
  }

  /** Says a phrase of the server's own. Undefined where nothing can be said. */
  say(phrase: string, interruptible: Interruptible): Utterance | undefined {
    try {
      return this.#speak(phrase, { interruptible });
    } catch (error) {
      this.#warn(error, 'a phrase could not be spoken');
      return undefined;
    }
  }

  /** A typed text is a prompt like any other. Throws TEXT_EMPTY. */
  typed(text: string): void {
    if (text.trim() === '') throw new ParleyError('TEXT_EMPTY', 'text must not be empty', { field: 'text' });
    this.#conversation.interrupt('text typed');
    this.callerActs();
    const lang = this.#config.transcriptionLanguage;
    this.#tellInput({ type: 'prompt', voicePrompt: text.trim(), lang, last: true });
  }

  /** Resolves when everything that was given so far was spoken. No more of it comes. */
  async spoken(): Promise<void> {
    this.#completeOpen();
    await this.#heard;
    await this.#handled.call.spoken();
  }

  /** A message of the application; never throws. */
  receive(data: string | Uint8Array): void {
    try {
      const message = readRelayMessage(data);
      this.#badMessages = 0;
      this.#act(message);
    } catch (error) {
      const { code } = asParleyError(error, 'MALFORMED');
      const message = this.#wordsOf(error);
      const isUnread = code === 'MALFORMED' || code === 'INVALID_FIELD';
      if (isUnread) this.#badMessages++;
      this.#peer.send({ type: 'error', description: isUnread ? `64107: ${message}` : message });
      this.#parts.log.warn({ call: this.#handled.call.id, code }, 'a message of the relay was refused');
      if (this.#badMessages >= MOST_BAD) this.#peer.refuse();
    }
  }

  /** A message of the application was not read. The open text ends: it may have a gap from here on. */
  missed(): void {
    if (this.#open === undefined) return;
    this.#passOver(this.#open, false);
    this.#completeOpen();
  }

  /** The application is lost: the text whose tokens were still coming ends with those that came. */
  detached(): void {
    this.#isAttached = false;
    this.#idle.look();
    this.#completeOpen();
    this.#passed = undefined;
    this.#isPaused = false;
    this.#badMessages = 0;
  }

  /** The call goes on without this session. Idempotent. */
  close(): void {
    this.#end.abort();
    this.#idle.close();
    this.detached();
    this.#conversation.leave();
  }

  #act(message: RelayMessage): void {
    switch (message.type) {
      case 'text':
        return this.#text(message);
      case 'play':
        return this.#play(message);
      case 'sendDigits':
        return this.#press(message.digits);
      case 'language':
        this.#ttsLanguage = message.ttsLanguage ?? this.#ttsLanguage;
        if (message.transcriptionLanguage !== undefined)
          this.#conversation.expect(this.#expected(message.transcriptionLanguage));
        return undefined;
      case 'end':
        return this.#peer.ended(message.handoffData);
      case 'clear':
        return this.#clear();
      case 'mark':
        return this.#mark(message.name);
      case 'flush':
        return this.#open?.stream.endSentence();
    }
  }

  #completeOpen(): void {
    this.#open?.complete();
    this.#open = undefined;
  }

  #passOver(text: RelayText | undefined, isComplete: boolean): void {
    const sinceMs = this.#parts.time.now();
    this.#passed = isComplete ? undefined : { id: text?.utteranceId, sinceMs, untilMs: Infinity };
  }

  #text(message: TextMessage): void {
    const { token, last, utteranceId } = message;
    if (this.#isPassed(utteranceId)) {
      if (last) this.#passed = undefined;
      return;
    }
    this.#passed = undefined;
    const isEmpty = last && token.trim() === '';
    if (this.#open === undefined && isEmpty) return; // the end of a text that was given up
    const waiting = this.#waiting + token.length;
    if (waiting > MOST_CHARACTERS) {
      this.#passOver(this.#open, last);
      this.#completeOpen();
      const most = `${MOST_CHARACTERS} characters wait to be spoken, and more are not taken`;
      throw new ParleyError('QUEUE_FULL', `${most}: "pause" and "resume" tell when`);
    }
    const text = this.#open ?? this.#begin(message);
    text.push(token, last);
    this.#open = last ? undefined : text;
    this.#balance();
  }

  #isPassed(utteranceId: string | undefined): boolean {
    if (this.#passed === undefined) return false;
    const { id, untilMs } = this.#passed;
    return utteranceId === undefined ? this.#parts.time.now() < untilMs : utteranceId === id;
  }

  /** A text that may be pre-empted gives way to the next one. */
  #begin({ lang, interruptible, preemptible, utteranceId, last }: TextMessage): RelayText {
    if (this.#isPreemptible) this.#interrupt('preempted');
    const text = new RelayText(preemptible ?? this.#config.preemptible, utteranceId);
    const options = {
      language: lang ?? this.#ttsLanguage,
      interruptible: interruptible ?? this.#config.interruptible,
    };
    const speak = () => this.#texts.set(this.#speak(text.stream, options).number, text);
    if (this.#fetching > 0) this.#behindSound(text, speak);
    else {
      this.#passOver(text, last); // unless it can be spoken
      speak();
      this.#passed = undefined;
    }
    return text;
  }

  /** A sound that is still fetched is heard before the texts that came after it. */
  #behindSound(text: RelayText, speak: () => void): void {
    const generation = this.#generation;
    this.#behind.add(text);
    this.#heard = this.#heard.then(() => {
      this.#behind.delete(text);
      if (this.#end.signal.aborted || generation !== this.#generation) return;
      try {
        speak();
      } catch (error) {
        this.#leaveOpen(text);
        this.#refuse(error);
      }
    });
  }

  /** Everything that is queued may be pre-empted, and something is. */
  get #isPreemptible(): boolean {
    const queued = [...this.#texts.values(), ...this.#behind].map(({ isPreemptible }) => isPreemptible);
    const all = [...queued, ...this.#sounds.values()];
    return all.length > 0 && all.every(Boolean);
  }

  /** A voice or language that no engine has gives way to the default, as with Twilio. */
  #speak(
    text: string | AsyncIterable<string>,
    { language = this.#ttsLanguage, interruptible }: { language?: string; interruptible: Interruptible },
  ): Utterance {
    const voice =
      this.#config.languages.find(({ code }) => tagOfStated(code) === tagOfStated(language))?.voice ??
      this.#config.voice;
    const options = {
      ...this.#able({ voice, language }),
      interruptible: this.#conversation.allowed(interruptible),
    };
    const utterance = this.#conversation.say(text, options);
    this.#idle.says(utterance);
    return utterance;
  }

  /** The time that the application takes for its answer counts: one that never answers keeps no call open. */
  #idleCaller(): IdleCaller {
    const { idle, interruptible } = this.#config;
    return new IdleCaller(idle, {
      time: this.#parts.time,
      isBusy: () => !this.#isAttached || this.#conversation.isBusy,
      say: (phrase) => this.say(phrase, interruptible),
      hangUp: async () => {
        const { id: call } = this.#handled.call;
        this.#parts.log.info({ call }, 'the caller says nothing, and the call ends');
        await this.#handled
          .hangUp()
          .catch((error: unknown) => this.#warn(error, 'the call could not be ended'));
      },
    });
  }

  #able({ voice, language }: VoiceRequest): VoiceRequest {
    for (const choice of [{ voice, language }, { language }, { voice }]) {
      try {
        this.#parts.routing.resolve(choice);
        return choice;
      } catch (error) {
        const { code } = asParleyError(error, 'ENGINE_FAILED');
        if (code !== 'VOICE_UNKNOWN' && code !== 'LANGUAGE_UNAVAILABLE') return choice;
        this.#defaulted(code, this.#wordsOf(error));
      }
    }
    return {};
  }

  /** Told once for each mistake. */
  #defaulted(code: string, message: string): void {
    if (this.#unknown.has(message)) return;
    this.#unknown.add(message);
    this.#parts.log.warn(
      { call: this.#handled.call.id, code, detail: message },
      'the relay has a default instead',
    );
    this.#peer.send({ type: 'error', description: `64106: ${message}` });
  }

  /** Sounds are fetched and played in the order of their messages. */
  #play({ source, loop, interruptible, preemptible = this.#config.preemptible }: PlayMessage): void {
    if (this.#fetching >= MOST_FETCHING)
      throw new ParleyError('QUEUE_FULL', `${MOST_FETCHING} sounds are fetched already: no more are taken`);
    const { signal } = this.#end;
    const allowed = this.#conversation.allowed(interruptible ?? this.#config.interruptible);
    if (this.#isPreemptible) this.#interrupt('preempted');
    const generation = this.#generation;
    const read = this.#parts.sounds.read(source, 'source', signal);
    read.catch(() => undefined);
    this.#fetching++;
    this.#heard = this.#heard.then(async () => {
      try {
        const sound = await read;
        if (signal.aborted || generation !== this.#generation) return;
        const utterance = this.#handled.call.play({ ...sound, times: Math.max(1, loop) }, allowed);
        this.#sounds.set(utterance.number, preemptible);
        this.#idle.says(utterance);
      } catch (error) {
        if (!signal.aborted) this.#refuse(error);
      } finally {
        this.#fetching--;
      }
    });
  }

  #press(digits: string): void {
    const { leg } = this.#handled;
    if (leg === undefined)
      throw new ParleyError('CALL_STATE', 'the call has no telephone line to send digits on');
    leg.press({ digits: digits.replaceAll('w', ',') }).catch((error: unknown) => this.#refuse(error));
  }

  #clear(): void {
    this.#interrupt('cleared by the application');
    this.#completeOpen();
    this.#passed = undefined;
    const { heard = '', durationMs = 0 } = this.#cut ?? {};
    this.#cut = undefined;
    this.#peer.send({
      type: 'cleared',
      utteranceUntilInterrupt: heard,
      durationUntilInterruptMs: Math.round(durationMs),
    });
  }

  #interrupt(reason: string): void {
    this.#isOrdered = true;
    this.#forgetBehind();
    this.#conversation.interrupt(reason);
    this.#isOrdered = false;
    this.#balance();
  }

  /** Nothing that waits for a sound is heard. */
  #forgetBehind(): void {
    this.#generation++;
    for (const text of this.#behind) this.#leaveOpen(text);
    this.#behind.clear();
  }

  /** The rest of a text that was given up is passed over. */
  #leaveOpen(text: RelayText): void {
    if (text !== this.#open) return;
    this.#open = undefined;
    this.#passOver(text, text.isComplete);
  }

  /** Told once everything before it was heard, and never after an interruption. */
  #mark(name: string): void {
    if (this.#marks >= MOST_MARKS)
      throw new ParleyError('QUEUE_FULL', `${MOST_MARKS} marks wait already: no more are taken`);
    this.#marks++;
    const generation = this.#generation;
    void this.#heard
      .then(() => this.#handled.call.spoken())
      .then(() => {
        this.#marks--;
        if (generation === this.#generation && !this.#end.signal.aborted)
          this.#peer.send({ type: 'mark', name });
      });
  }

  get #waiting(): number {
    const texts = [...this.#texts.values(), ...this.#behind];
    return texts.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Tells the application to pause, or to go on. */
  #balance(): void {
    const waiting = this.#waiting;
    if (!this.#isPaused && waiting > PAUSE_CHARACTERS) {
      this.#isPaused = true;
      this.#peer.send({ type: 'pause', waitingCharacters: waiting });
    } else if (this.#isPaused && waiting < RESUME_CHARACTERS) {
      this.#isPaused = false;
      this.#peer.send({ type: 'resume', waitingCharacters: waiting });
    }
  }

  #listener(): ConversationListener {
    return {
      said: (turn) => this.#said(turn),
      noise: () => this.#idle.look(),
      partial: (text, language) => this.#partial(text, language),
      callerSpeaks: (isSpeaking) => {
        this.#idle.look();
        this.#speaker('clientSpeaking', isSpeaking);
      },
      pressed: (digit) => this.#pressed(digit),
      started: () => this.#speaker('agentSpeaking', true),
      sentencePlayed: (utterance, sentence) => {
        const text = this.#texts.get(utterance);
        if (text !== undefined) this.#tokensPlayed(text.played(sentence));
        this.#balance();
      },
      spoken: (utterance) => {
        this.#tokensPlayed(this.#texts.get(utterance)?.playedAll() ?? []);
        this.#over(utterance);
      },
      interrupted: (utterance, heard, durationMs) => this.#interrupted(utterance, heard, durationMs),
      failed: (utterance, { code }) => {
        this.#over(utterance);
        // No token came for long: the next one begins a new text.
        if (code === 'TIMEOUT') this.#passed = undefined;
        this.#peer.send({ type: 'error', description: `the text could not be spoken: ${code}` });
      },
      ended: () => this.#idle.close(),
    };
  }

  #over(utterance: number): void {
    const text = this.#texts.get(utterance);
    this.#texts.delete(utterance);
    this.#sounds.delete(utterance);
    if (text !== undefined) this.#leaveOpen(text);
    if (!this.#conversation.isSpeaking) this.#speaker('agentSpeaking', false);
    this.#balance();
  }

  #said({ text, language, isOverVoice }: SaidTurn): void {
    this.#idle.acts();
    const reported = this.#config.reportInputDuringAgentSpeech;
    if (isOverVoice && reported !== 'any' && reported !== 'speech') return;
    const lang = language ?? this.#config.transcriptionLanguage;
    this.#tellInput({ type: 'prompt', voicePrompt: text, lang, last: true });
  }

  /** After what it interrupted. The next text answers it. */
  #tellInput(message: RelayEvent): void {
    this.#tellInterruption();
    if (this.#passed !== undefined)
      this.#passed.untilMs = Math.max(this.#parts.time.now(), this.#passed.sinceMs + KNOWN_MS);
    this.#peer.send(message);
  }

  #partial(voicePrompt: string, language: string | undefined): void {
    const lang = language ?? this.#config.transcriptionLanguage;
    const isWanted = this.#config.partialPrompts && !this.#conversation.isSpeaking;
    if (isWanted) this.#peer.send({ type: 'prompt', voicePrompt, lang, last: false });
  }

  /** A key that did not interrupt the voice is told only if that is wanted. */
  #pressed(digit: string): void {
    this.#idle.acts();
    if (!this.#config.dtmfDetection) return;
    const reported = this.#config.reportInputDuringAgentSpeech;
    if (this.#conversation.isSpeaking && reported !== 'any' && reported !== 'dtmf') return;
    this.#tellInput({ type: 'dtmf', digit });
  }

  /** One interruption ends all utterances: it is one message, with what was heard of them. */
  #interrupted(utterance: number, heard: string, durationMs: number): void {
    const text = this.#texts.get(utterance);
    this.#tokensPlayed(text?.interrupted(heard) ?? []);
    const isFirst = this.#cut === undefined;
    this.#cut ??= { heard: '', durationMs: 0, id: text?.utteranceId };
    this.#cut.heard = [this.#cut.heard, heard].filter((part) => part !== '').join(' ');
    this.#cut.durationMs += durationMs;
    this.#over(utterance);
    if (!isFirst) return;
    if (this.#isOrdered) queueMicrotask(() => (this.#cut = undefined));
    else queueMicrotask(() => this.#tellInterruption());
  }

  #tellInterruption(): void {
    if (this.#cut === undefined) return;
    const { heard, durationMs, id } = this.#cut;
    this.#cut = undefined;
    this.#forgetBehind();
    this.#peer.send({
      type: 'interrupt',
      utteranceUntilInterrupt: heard,
      durationUntilInterruptMs: Math.round(durationMs),
      ...(id === undefined ? {} : { utteranceId: id }),
    });
  }

  #speaker(name: 'agentSpeaking' | 'clientSpeaking', isOn: boolean): void {
    if (!this.#config.events.has('speaker-events')) return;
    this.#peer.send({ type: 'info', name, value: isOn ? 'on' : 'off', ts: this.#parts.unixMs() });
  }

  #tokensPlayed(tokens: readonly string[]): void {
    if (!this.#config.events.has('tokens-played')) return;
    for (const value of tokens) this.#peer.send({ type: 'info', name: 'tokensPlayed', value });
  }

  #refuse(error: unknown): void {
    this.#peer.send({ type: 'error', description: this.#wordsOf(error) });
    this.#warn(error, 'an order of the relay failed');
  }

  #wordsOf(error: unknown): string {
    return wordsOf(error, this.#handled.call.id, this.#parts.log);
  }

  #warn(error: unknown, message: string): void {
    const { code } = asParleyError(error, 'WRONG_STATE');
    this.#parts.log.warn({ call: this.#handled.call.id, code }, message);
  }
}

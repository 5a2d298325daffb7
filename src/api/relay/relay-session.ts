// The session of a call in Twilio's ConversationRelay protocol: what the caller does becomes messages to the
// application, and its messages become speech. It outlives a lost socket.
//
//   caller: turns, keys, interruptions ─▶ setup, prompt, dtmf, interrupt, info ─▶ application
//   application: text, play, sendDigits, language, end ─▶ utterances, digits, the end of the call
//
// https://www.twilio.com/docs/voice/conversationrelay/websocket-messages
import type { CallerTexts } from '../../call/caller-texts.js';
import type { HandledCall } from '../../call/call-handler.js';
import type { Interruptible, Utterance } from '../../call/utterance.js';
import { Conversation, type CallerTurn, type ConversationListener } from '../../agents/conversation.js';
import type { RelayConfig } from '../../config/relay-config.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { PlayedSound } from '../../speaking/line-piece.js';
import type { Time } from '../../time.js';
import { type PlayMessage, readRelayMessage, type RelayMessage, type TextMessage } from './relay-messages.js';
import { RelayText } from './relay-text.js';

export interface RelayParts {
  readonly callerTexts: Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;
  readonly sounds: {
    read(source: string, field: string, signal: AbortSignal): Promise<PlayedSound>;
  };
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
  };
}

/** The application's side of the session. */
export interface RelayPeer {
  send(message: object): void;
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

export class RelaySession {
  readonly #handled: HandledCall;
  readonly #config: RelayConfig;
  readonly #parts: RelayParts;
  readonly #peer: RelayPeer;
  readonly #conversation: Conversation;
  readonly #texts = new Map<number, RelayText>();
  readonly #end = new AbortController();
  #open: RelayText | undefined;
  /**
   * The text that is open was given up: what still comes of it is passed over, up to its last token or the
   * next input of the caller. Many applications end an interrupted text without a last token.
   */
  #isPassedOver = false;
  #ttsLanguage: string;
  #isPaused = false;
  #badMessages = 0;
  /** Changes with each interruption: marks from before it are not told. */
  #generation = 0;
  #marks = 0;
  /** What the caller heard of the utterances that one interruption ended. */
  #cut: { heard: string; durationMs: number; id: string | undefined } | undefined;
  /** An order of the application's own interrupts. */
  #isOrdered = false;
  #heard: Promise<void> = Promise.resolve();

  constructor(handled: HandledCall, config: RelayConfig, parts: RelayParts, peer: RelayPeer) {
    this.#handled = handled;
    this.#config = config;
    this.#parts = parts;
    this.#peer = peer;
    this.#ttsLanguage = config.ttsLanguage;
    const { interruptSensitivity: sensitivity, ignoreBackchannel, speechTimeoutMs } = config;
    const timeout = speechTimeoutMs === undefined ? {} : { maxSilenceMs: speechTimeoutMs };
    this.#conversation = new Conversation(handled, this.#listener(), parts, {
      expected: { language: config.transcriptionLanguage, context: config.hints },
      hearing: { sensitivity, ignoreBackchannel, ...timeout },
    });
  }

  /** Called once the application is there. */
  greet(): void {
    const { welcomeGreeting: greeting, welcomeGreetingInterruptible: interruptible } = this.#config;
    if (greeting !== undefined) this.say(greeting, interruptible);
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

  /** Resolves when everything that was given so far was spoken. */
  spoken(): Promise<void> {
    return this.#handled.call.spoken();
  }

  /** A message of the application; never throws. */
  receive(data: string | Uint8Array): void {
    try {
      const message = readRelayMessage(data);
      this.#badMessages = 0;
      this.#act(message);
    } catch (error) {
      const { code, message } = asParleyError(error, 'MALFORMED');
      if (code === 'MALFORMED' || code === 'INVALID_FIELD') this.#badMessages++;
      this.#peer.send({ type: 'error', description: `64107: ${message}` });
      this.#parts.log.warn({ call: this.#handled.call.id, code }, 'a message of the relay was refused');
      if (this.#badMessages >= MOST_BAD) this.#peer.refuse();
    }
  }

  /** The application is lost: the text whose tokens were still coming ends with those that came. */
  detached(): void {
    this.#open?.complete();
    this.#open = undefined;
    this.#isPassedOver = false;
    this.#isPaused = false;
    this.#badMessages = 0;
  }

  /** The application is about to get input of the caller: the next token begins its answer. */
  asked(): void {
    this.#isPassedOver = false;
  }

  /** The call goes on without this session. Idempotent. */
  close(): void {
    this.#end.abort();
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
          this.#conversation.expect({ language: message.transcriptionLanguage, context: this.#config.hints });
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

  #text(message: TextMessage): void {
    const { token, last } = message;
    if (this.#isPassedOver) {
      this.#isPassedOver = !last;
      return;
    }
    // The end of a text that is over, as after an interruption, is no text of its own.
    if (this.#open === undefined && token === '' && last) return;
    const waiting = this.#waiting + token.length;
    if (waiting > MOST_CHARACTERS) {
      this.#open?.complete();
      this.#open = undefined;
      this.#isPassedOver = !last;
      const most = `${MOST_CHARACTERS} characters wait to be spoken, and more are not taken`;
      throw new ParleyError('QUEUE_FULL', `${most}: "pause" and "resume" tell when`);
    }
    const text = this.#open ?? this.#begin(message);
    text.push(token, last);
    this.#open = last ? undefined : text;
    this.#balance();
  }

  /** A text that may be pre-empted gives way to the next one. */
  #begin({ lang, interruptible, preemptible, utteranceId, last }: TextMessage): RelayText {
    if ([...this.#texts.values()].some((text) => text.isPreemptible)) this.#interrupt('preempted');
    const text = new RelayText(preemptible ?? this.#config.preemptible, utteranceId);
    this.#isPassedOver = !last; // unless it can be spoken
    const utterance = this.#speak(text.stream, {
      language: lang ?? this.#ttsLanguage,
      interruptible: interruptible ?? this.#config.interruptible,
    });
    this.#isPassedOver = false;
    this.#texts.set(utterance.number, text);
    return text;
  }

  #speak(
    text: string | AsyncIterable<string>,
    { language = this.#ttsLanguage, interruptible }: { language?: string; interruptible: Interruptible },
  ): Utterance {
    const voice = this.#config.languages.find(({ code }) => code === language)?.voice ?? this.#config.voice;
    return this.#conversation.say(text, { voice, language, interruptible: this.#allowed(interruptible) });
  }

  /** Without a recogniser, speech does not interrupt: nothing would follow. */
  #allowed(interruptible: Interruptible): Interruptible {
    if (this.#conversation.isCallerRecognised) return interruptible;
    return interruptible === 'any' || interruptible === 'dtmf' ? 'dtmf' : 'none';
  }

  /** Sounds are fetched and played in the order of their messages. */
  #play({ source, loop, interruptible, preemptible: _preemptible }: PlayMessage): void {
    const { signal } = this.#end;
    const allowed = this.#allowed(interruptible ?? this.#config.interruptible);
    const generation = this.#generation;
    const read = this.#parts.sounds.read(source, 'source', signal);
    read.catch(() => undefined);
    this.#heard = this.#heard.then(async () => {
      try {
        const sound = await read;
        if (signal.aborted || generation !== this.#generation) return;
        this.#handled.call.play({ ...sound, times: Math.max(1, loop) }, allowed);
      } catch (error) {
        if (!signal.aborted) this.#refuse(error);
      }
    });
  }

  #press(digits: string): void {
    const { line } = this.#handled;
    if (line === undefined)
      throw new ParleyError('CALL_STATE', 'the call has no telephone line to send digits on');
    line.press({ digits: digits.replaceAll('w', ',') }).catch((error: unknown) => this.#refuse(error));
  }

  #clear(): void {
    this.#interrupt('cleared by the application');
    this.#open?.complete();
    this.#open = undefined;
    this.#isPassedOver = false;
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
    this.#generation++;
    this.#conversation.interrupt(reason);
    this.#isOrdered = false;
    this.#balance();
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
    return [...this.#texts.values()].reduce((sum, { waiting }) => sum + waiting, 0);
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
      noise: () => undefined,
      partial: (text, language) => this.#partial(text, language),
      callerSpeaks: (isSpeaking) => this.#speaker('clientSpeaking', isSpeaking),
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
        if (code === 'TIMEOUT') this.asked(); // no token came for long: the next one begins a new text
        this.#peer.send({ type: 'error', description: `the text could not be spoken: ${code}` });
      },
      ended: () => undefined,
    };
  }

  #over(utterance: number): void {
    const text = this.#texts.get(utterance);
    this.#texts.delete(utterance);
    if (text !== undefined && text === this.#open) {
      this.#open = undefined;
      this.#isPassedOver = !text.isComplete;
    }
    if (!this.#conversation.isSpeaking) this.#speaker('agentSpeaking', false);
    this.#balance();
  }

  #said({ text, language, isOverVoice }: CallerTurn): void {
    const reported = this.#config.reportInputDuringAgentSpeech;
    if (isOverVoice && reported !== 'any' && reported !== 'speech') return;
    const lang = language ?? this.#config.transcriptionLanguage;
    this.asked();
    this.#peer.send({ type: 'prompt', voicePrompt: text, lang, last: true });
  }

  #partial(voicePrompt: string, language: string | undefined): void {
    const lang = language ?? this.#config.transcriptionLanguage;
    const isWanted = this.#config.partialPrompts && !this.#conversation.isSpeaking;
    if (isWanted) this.#peer.send({ type: 'prompt', voicePrompt, lang, last: false });
  }

  /** A key that did not interrupt the voice is told only if that is wanted. */
  #pressed(digit: string): void {
    if (!this.#config.dtmfDetection) return;
    const reported = this.#config.reportInputDuringAgentSpeech;
    if (this.#conversation.isSpeaking && reported !== 'any' && reported !== 'dtmf') return;
    this.asked();
    this.#peer.send({ type: 'dtmf', digit });
  }

  /** One interruption ends all utterances: it is one message, with what was heard of them. */
  #interrupted(utterance: number, heard: string, durationMs: number): void {
    const text = this.#texts.get(utterance);
    this.#tokensPlayed(text?.played(heard) ?? []);
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
    const { heard = '', durationMs = 0, id } = this.#cut ?? {};
    this.#cut = undefined;
    this.#generation++;
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
    const { message } = asParleyError(error, 'WRONG_STATE');
    this.#peer.send({ type: 'error', description: message });
    this.#warn(error, 'an order of the relay failed');
  }

  #warn(error: unknown, message: string): void {
    const { code } = asParleyError(error, 'WRONG_STATE');
    this.#parts.log.warn({ call: this.#handled.call.id, code }, message);
  }
}

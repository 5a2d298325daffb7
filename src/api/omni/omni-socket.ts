// Serves vLLM-Omni's protocol of /v1/audio/speech/stream: the client sends tokens, and the server sends the
// audio of each sentence as soon as the sentence is complete. `input.done` ends a text and not the session.
// `input.cancel`, an addition of this server, drops everything that is not sent.
//
// An utterance is the text between two `input.done`. The server answers each of them with one `session.done`,
// unless the utterance was cancelled.
import { ParleyError } from '../../errors.js';
import { socketError } from '../http/error-reply.js';
import { invalid } from '../http/message-fields.js';
import type { SocketHandler, Dialect, Handshake, Peer } from '../http/socket-dialect.js';
import { type SpeechSocketParts, TextQueue } from '../speech/speech-sockets.js';
import { type OmniConfig, type OmniMessage, readOmniMessage } from './omni-message.js';
import { OmniUtterance } from './omni-utterance.js';

export function omniSocket(parts: SpeechSocketParts): Dialect {
  return {
    name: 'vllm-omni',
    path: '/v1/audio/speech/stream',
    query: [],
    open: (peer, handshake) => new OmniConversation(parts, peer, handshake),
  };
}

const NORMAL = 1000;

class OmniConversation implements SocketHandler {
  readonly #parts: SpeechSocketParts;
  readonly #peer: Peer;
  readonly #handshake: Handshake;
  readonly #queue: TextQueue;
  #config: OmniConfig | undefined;
  /** The utterance whose text is still coming. */
  #open: OmniUtterance | undefined;
  /** Utterances without a `session.done`, oldest first. */
  readonly #unfinished = new Set<OmniUtterance>();
  #count = 0;
  #closing = false;

  constructor(parts: SpeechSocketParts, peer: Peer, handshake: Handshake) {
    this.#parts = parts;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#queue = new TextQueue(parts.limits.maxWaitingUtterances);
  }

  message(data: string | Uint8Array): void {
    if (this.#closing) return;
    try {
      this.#act(readOmniMessage(data, this.#parts.limits));
    } catch (error) {
      this.#refuse(error);
    }
  }

  closed(): Promise<void> {
    this.#closing = true;
    this.#drop();
    this.#queue.cancel(() => undefined);
    return this.#queue.idle();
  }

  #act(message: OmniMessage): void {
    switch (message.type) {
      case 'session.config':
        return this.#configure(message.config);
      case 'input.text':
        if (message.text !== '') this.#opened().push(message.text, this.#parts.limits.maxTextLength);
        return undefined;
      case 'input.commit':
        return this.#commit(message.commitId);
      case 'input.done':
        return this.#complete(this.#opened());
      case 'input.cancel':
        return this.#cancel();
      case 'session.close':
        return this.#close();
    }
  }

  #configure(config: OmniConfig): void {
    if (this.#open !== undefined) {
      throw invalid('type', 'must not be "session.config" within a text; send "input.done" first');
    }
    this.#parts.checkModel(config.model);
    this.#config = config;
  }

  #configured(): OmniConfig {
    if (this.#config === undefined) throw invalid('type', 'must be "session.config" in the first message');
    return this.#config;
  }

  /** The utterance that is open, or a new one. */
  #opened(): OmniUtterance {
    if (this.#open !== undefined) return this.#open;
    const config = this.#configured();
    const utterance = new OmniUtterance(this.#count++, config, this.#peer);
    this.#open = utterance;
    this.#unfinished.add(utterance);
    if (this.#queue.isIdle) utterance.receivedAtMs = this.#parts.time.now();
    try {
      this.#queue.add((signal) => this.#speak(utterance, signal));
    } catch (error) {
      // The rest of this text is ignored up to its `input.done`.
      utterance.tokens.end();
      utterance.over = true;
      this.#refuse(error, { utterance_index: utterance.index });
    }
    return utterance;
  }

  /** Has the text since the last commit spoken. */
  #commit(commitId: string | undefined): void {
    if (this.#configured().streamingMode !== 'sentence_commit') {
      throw invalid('type', 'may be "input.commit" only with "streaming_mode": "sentence_commit"');
    }
    const utterance = this.#open;
    // The rest of a refused text is ignored up to its `input.done`.
    if (utterance?.tokens.ended === true || (utterance && this.#committed(utterance, commitId))) return;
    throw new ParleyError('TEXT_EMPTY', '"input.commit" requires text that is not committed yet', {
      field: 'text',
    });
  }

  /** Returns false if there is no text to commit. */
  #committed(utterance: OmniUtterance, commitId: string | undefined): boolean {
    const { index, commits } = utterance;
    const characters = utterance.commit();
    if (characters === 0) return false;
    const isTimed = commits === 0 && utterance.receivedAtMs !== undefined;
    if (isTimed) utterance.receivedAtMs = this.#parts.time.now();
    const place = { utterance_index: index, sentence_index: commits };
    const id = commitId ?? null;
    this.#send({ type: 'input.committed', ...place, commit_id: id, chars_committed: characters });
    return true;
  }

  #complete(utterance: OmniUtterance): void {
    this.#open = undefined;
    if (!utterance.tokens.ended) this.#committed(utterance, undefined);
    utterance.complete = true;
    utterance.tokens.end();
    this.#finish(utterance);
  }

  async #speak(utterance: OmniUtterance, signal: AbortSignal): Promise<void> {
    const { speaker, time, firstSound } = this.#parts;
    const { client } = this.#handshake;
    const failed = (error: unknown, place: object) => this.#refuse(error, place);
    try {
      const sentences = speaker.speak(utterance.tokens, { ...utterance.config.speech, client }, signal);
      for await (const sentence of sentences) {
        const { receivedAtMs } = utterance;
        if (receivedAtMs !== undefined && sentence.index === 0) firstSound(time.now() - receivedAtMs);
        await utterance.send(sentence, signal, failed);
      }
      utterance.endStream(false, signal);
    } catch (error) {
      utterance.fail(error, signal, failed);
    }
    utterance.over = true;
    utterance.tokens.end(); // later text of this utterance must not start another one
    this.#finish(utterance);
  }

  /** Reports the end of an utterance whose text is complete and whose speaking has ended. */
  #finish(utterance: OmniUtterance): void {
    const { index, over, complete, total } = utterance;
    if (!over || !complete || !this.#unfinished.delete(utterance)) return;
    this.#send({ type: 'session.done', utterance_index: index, total_sentences: total });
  }

  #cancel(): void {
    const utterances = this.#drop();
    this.#queue.cancel(() => this.#send({ type: 'input.cancelled', utterances }));
  }

  /** Forgets every utterance that is not at its end; returns which they were. */
  #drop(): number[] {
    const dropped = [...this.#unfinished];
    this.#unfinished.clear();
    this.#open = undefined;
    for (const { tokens } of dropped) tokens.end();
    return dropped.map(({ index }) => index);
  }

  /** Closes the socket once the texts received so far are spoken. */
  #close(): void {
    this.#closing = true;
    if (this.#open !== undefined) this.#complete(this.#open);
    void this.#queue.idle().then(() => this.#peer.close(NORMAL, ''));
  }

  #refuse(error: unknown, place: object = {}): void {
    const { code, message, field } = socketError(error, this.#handshake.requestId, this.#parts.failed);
    this.#send({ type: 'error', message, code, param: field ?? null, ...place });
  }

  #send(message: object): void {
    this.#peer.send(JSON.stringify(message));
  }
}

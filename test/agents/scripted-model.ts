// A chat model whose answers the test writes token by token.
import type { AnswerPart, ChatMessage, ChatQuestion, ToolCall } from '../../src/agents/chat-model.js';
import { ParleyError } from '../../src/errors.js';
import { until } from '../fakes/until.js';

export class WrittenAnswer {
  readonly question: ChatQuestion;
  readonly #parts: AnswerPart[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;
  /** Its reader has left or has read it to its end. */
  isOver = false;

  constructor(question: ChatQuestion) {
    this.question = question;
    question.signal.addEventListener('abort', () => this.fail(new ParleyError('ABORTED', 'given up')));
  }

  /** The messages after the prompt, as `role: content`. */
  get asked(): string[] {
    return this.question.messages.slice(1).map((message) => `${message.role}: ${contentOf(message)}`);
  }

  say(...tokens: readonly string[]): this {
    return this.#add(...tokens.map((text) => ({ text })));
  }

  /** What it has said was a thought. */
  wasThought(): this {
    return this.#add({ isThought: true });
  }

  call(name: string, given: object = {}): this {
    return this.calls([name, given]);
  }

  /** Several functions at once. */
  calls(...wanted: readonly (readonly [name: string, given: object])[]): this {
    const toolCalls = wanted.map(([name, given]): ToolCall => ({
      id: `call_${name}`,
      name,
      arguments: JSON.stringify(given),
    }));
    return this.#add({ toolCalls });
  }

  done(): void {
    this.#end ??= {};
    this.#wake();
  }

  fail(error: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  #add(...parts: readonly AnswerPart[]): this {
    this.#parts.push(...parts);
    this.#wake();
    return this;
  }

  async *read(): AsyncGenerator<AnswerPart, void, undefined> {
    try {
      for (;;) {
        if (this.question.signal.aborted) throw new ParleyError('ABORTED', 'given up');
        const part = this.#parts.shift();
        if (part !== undefined) yield part;
        else if (this.#end?.error !== undefined) throw this.#end.error;
        else if (this.#end !== undefined) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.isOver = true;
    }
  }
}

function contentOf(message: ChatMessage): string {
  if ('tool_calls' in message) return `${message.content ?? ''} +calls`.trim();
  return message.content ?? '';
}

export class ScriptedModel {
  readonly answers: WrittenAnswer[] = [];

  answer(question: ChatQuestion): AsyncGenerator<AnswerPart, void, undefined> {
    const answer = new WrittenAnswer(question);
    this.answers.push(answer);
    return answer.read();
  }

  /** Answer number `index`, from 0, once the model was asked for it. */
  async asked(index: number): Promise<WrittenAnswer> {
    await until(() => this.answers.length > index);
    return this.answers[index] as WrittenAnswer;
  }
}

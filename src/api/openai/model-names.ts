// The one model that this server has, and the names that it answers to.
import { ParleyError } from '../../errors.js';

// Clients have these built in, and mean whatever speaks.
const OPENAI_MODELS = /^(?:tts-1(?:-hd)?|gpt-4o-mini-tts)(?:-\d{4}-\d{2}-\d{2}|-\d{4})?$/;

export class ModelNames {
  /** As the lists name it. */
  readonly id: string;
  readonly #strict: boolean;

  /** Strict: other names than its own and OpenAI's are refused. */
  constructor(id: string, strict: boolean) {
    this.id = id;
    this.#strict = strict;
  }

  /** Throws MODEL_UNKNOWN where a request may not name it so. */
  check(name: string | undefined): void {
    if (!this.#strict || name === undefined || name === this.id || OPENAI_MODELS.test(name)) return;
    throw this.unknown(name);
  }

  unknown(name: string): ParleyError {
    const there = `there is no model "${name}"; there is "${this.id}"`;
    return new ParleyError('MODEL_UNKNOWN', there, { field: 'model' });
  }
}

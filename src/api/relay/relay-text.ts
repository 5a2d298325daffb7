// One text of an application, from its first token to its last packet. Tokens are joined as they are. Each is
// told once it was played, as far as sentences tell: an application adds them up.
import { TokenStream } from '../../speaking/text-source.js';

interface Token {
  readonly text: string;
  /** The place of its end in the text, white space not counted. */
  readonly end: number;
}

export class RelayText {
  readonly stream = new TokenStream();
  readonly utteranceId: string | undefined;
  readonly isPreemptible: boolean;
  #isComplete = false;
  #received = 0;
  #played = 0;
  readonly #unplayed: Token[] = [];

  constructor(isPreemptible: boolean, utteranceId: string | undefined) {
    this.isPreemptible = isPreemptible;
    this.utteranceId = utteranceId;
  }

  /** Characters that came and were not played. */
  get waiting(): number {
    return this.#received - this.#played;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  push(token: string, isLast: boolean): void {
    this.#received += lengthOf(token);
    if (token !== '') this.#unplayed.push({ text: token, end: this.#received });
    this.stream.push(token);
    if (isLast) this.complete();
  }

  complete(): void {
    this.#isComplete = true;
    this.stream.end();
  }

  /** This much more of the text was played. Returns the tokens that are played with it. */
  played(part: string): string[] {
    return this.#playedUpTo(this.#played + lengthOf(part));
  }

  /** It was played up to there, and is played no further. Returns the tokens that are played with it. */
  interrupted(heard: string): string[] {
    return this.#playedUpTo(Math.max(this.#played, lengthOf(heard)));
  }

  #playedUpTo(played: number): string[] {
    this.#played = played;
    const tokens: string[] = [];
    for (
      let next = this.#unplayed[0];
      next !== undefined && next.end <= this.#played;
      next = this.#unplayed[0]
    ) {
      tokens.push(next.text);
      this.#unplayed.shift();
    }
    return tokens;
  }

  /** All of it was played: the tokens that are left. */
  playedAll(): string[] {
    this.#played = this.#received;
    return this.#unplayed.splice(0).map(({ text }) => text);
  }
}

/** Sentences come trimmed and with their white space joined. */
function lengthOf(text: string): number {
  return text.replaceAll(/\s+/gu, '').length;
}

// Options of a command line: pip install -r requirements.txt, npm install --save-dev, sfc /scannow.
import { beginning, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { composed, type Reading, type TypedFound } from '../reading.js';

const OPTION = /(--?)([A-Za-z](?:[A-Za-z\d]|-(?=[A-Za-z\d])){0,24})(?![\p{L}\p{N}'’])/uy;
const SWITCH = /(\/)([A-Za-z]{1,16})(?![\p{L}\p{N}/.])/uy;
/** A command, and up to five words behind it. */
const COMMAND =
  /(?:^|[^\p{L}\p{N}_.-])(?:pip3?|npm|npx|yarn|pnpm|git|node|python3?|docker|kubectl|curl|wget|ls|cd|rm|cp|mv|cat|grep|find|chmod|chown|sudo|apt|apt-get|brew|conda|cargo|make|tar|ssh|scp|ping|ipconfig|ifconfig|netstat|sfc|chkdsk|dism|shutdown|systemctl|adb|ffmpeg)(?: [\w./=@:-]{1,40}){0,5} $/u;
const LONGEST = 96; // units before an option
const LETTERS = 3; // of several options behind one dash: ls -la

export class Commands {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  readonly atMark: Row = beginning(/[-/]/, (reading) => this.#option(reading));

  #option(reading: Reading): TypedFound | undefined {
    const { text, at } = reading;
    const match = text[at - 1] === ' ' ? (reading.match(OPTION) ?? reading.match(SWITCH)) : undefined;
    if (match === undefined || !COMMAND.test(text.slice(Math.max(0, at - LONGEST), at))) return undefined;
    const [written, mark = '', name = ''] = match;
    const { speech, symbols, unspaced } = this.#language;
    const { [mark.slice(0, 1)]: sign = '', '-': dash = '' } = symbols.inAddress;
    const words = (): string => {
      const isShort = mark === '-' && name.length <= LETTERS;
      const said = isShort ? [speech.letters(name.toUpperCase())] : name.split('-');
      const parts = said.flatMap((part, index) => (index === 0 ? [part] : [dash, part]));
      return [...Array.from(mark, () => sign), ...parts].join(unspaced === true ? '' : ' ');
    };
    return { ...composed(at + written.length, 'code', words), isCertain: true };
  }
}

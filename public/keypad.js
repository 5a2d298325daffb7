// The keypad of a call, and the verb that its call program performs now. Keys of the keyboard count while the
// keypad has the focus.

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];
const NAMES = { '*': 'star', '#': 'hash' };

/** Texts that tell the user what the program does, by the verb of a `program.verb`. */
const VERBS = {
  say: 'The program speaks.',
  play: 'The program plays a sound.',
  pause: 'The program pauses.',
  press: 'The program presses keys.',
  gather: 'The program waits for your keys or words.',
  record: 'The program records you.',
  dial: 'The program calls somebody.',
  conference: 'You are in a conference.',
  enqueue: 'You wait in a queue.',
  dequeue: 'The program connects you with the next caller of a queue.',
  connect: 'The program has connected you with an agent.',
  hangup: 'The program hangs up.',
};

export class Keypad {
  #parts;

  /** `parts` has the elements `section`, `keys` and `verb`, and `press(key)`. */
  constructor(parts) {
    this.#parts = parts;
    parts.keys.replaceChildren(...KEYS.map((key) => this.#button(key)));
    parts.keys.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey }) => {
      if (KEYS.includes(key) && !ctrlKey && !metaKey && !altKey) this.#pressed(key);
    });
  }

  /** A call is open. `program` is the name of its program; undefined: it has none. */
  began(program) {
    this.#parts.section.hidden = false;
    this.#parts.section.open = program !== undefined;
    this.#show('');
  }

  left() {
    this.#parts.section.hidden = true;
  }

  /** A message of the server. */
  read({ type, verb, message }) {
    if (type === 'program.verb') this.#show(VERBS[verb] ?? `The program performs: ${verb}.`);
    if (type === 'program.warning') this.#show(`Warning: ${message}`);
    if (type === 'program.failed') this.#show(`The program has failed: ${message}`);
  }

  #show(text) {
    this.#parts.verb.textContent = text;
  }

  #button(key) {
    const ariaLabel = `Press ${NAMES[key] ?? key}`;
    const fields = { type: 'button', className: 'button key', textContent: key, ariaLabel };
    const button = Object.assign(document.createElement('button'), fields);
    button.dataset.key = key;
    button.addEventListener('click', () => this.#parts.press(key));
    return button;
  }

  /** As if its button was pressed, which the user sees. */
  #pressed(key) {
    const button = this.#parts.keys.querySelector(`[data-key='${key}']`);
    button.focus();
    button.click();
  }
}

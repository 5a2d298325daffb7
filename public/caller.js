// The caller's side of the page: the switches of the microphone and of interruption by speech, the level of
// the microphone, and the sign that says who speaks. The microphone is on only during a call, and only if its
// switch is.
import { Meter } from './meter.js';
import { Speakers, SpeakerSign } from './speakers.js';

const LEVEL_COLOR = '255 190 120';

export class Caller {
  #parts;
  #meter;
  #sign;
  #speakers = new Speakers();
  #call;
  /** The user has moved a switch. */
  #isChosen = false;

  /**
   * `parts` has the elements `microphone`, `interrupt`, `level`, `levelNames`, `who`, `announce`, and
   * `showProblem(text)`.
   */
  constructor(parts) {
    this.#parts = parts;
    this.#meter = new Meter(parts.level, LEVEL_COLOR);
    this.#sign = new SpeakerSign({ sign: parts.who, announce: parts.announce });
    parts.microphone.addEventListener('change', () => {
      this.#isChosen = true;
      this.#switched();
    });
    parts.interrupt.addEventListener('change', () => {
      this.#isChosen = true;
      if (!parts.interrupt.checked || parts.microphone.checked) return;
      parts.microphone.checked = true;
      this.#switched();
    });
  }

  /** The user wants calls to have the microphone. */
  get isWanted() {
    return this.#parts.microphone.checked;
  }

  /** An agent listens: calls have the microphone, unless the user has decided otherwise. */
  suggest() {
    if (!this.#isChosen) this.#parts.microphone.checked = true;
  }

  /** The input that interrupts the texts that are sent now; undefined: none. */
  get interruptible() {
    return this.#call?.microphone && this.#parts.interrupt.checked ? 'speech' : undefined;
  }

  /** The call is open. The user may have moved the switch meanwhile. */
  began(call) {
    this.#call = call;
    this.#sign.hidden = false;
    this.#sign.show(this.#speakers.now);
    if (!this.isWanted) call.stopMicrophone();
    else if (call.microphone) call.listen();
    else void this.#start();
  }

  /** A message of the server. */
  read(message) {
    this.#speakers.apply(message);
    this.#sign.show(this.#speakers.now);
  }

  /** The server cannot hear the caller. */
  notHeard() {
    this.#parts.interrupt.checked = false;
  }

  /** There is no microphone for the call. */
  switchOff() {
    this.#parts.microphone.checked = this.#parts.interrupt.checked = false;
  }

  /** The call is over. */
  left() {
    this.#call = undefined;
    this.#speakers = new Speakers();
    this.#sign.show(this.#speakers.now);
    this.#sign.hidden = true;
    this.#showLevel(null);
  }

  /** The call sends this stream of the microphone from now on; null: none. */
  changed(stream) {
    this.#showLevel(stream);
    const call = this.#call;
    if (call === undefined) return;
    if (stream !== null) return void call.listen();
    if (call.state !== 'ended') this.switchOff(); // the device may have been removed
    call.listen(false);
    this.#speakers.callerLeft();
    this.#sign.show(this.#speakers.now);
  }

  #switched() {
    const { microphone, interrupt } = this.#parts;
    if (!microphone.checked) interrupt.checked = false;
    if (this.#call === undefined) return; // it is asked for when a call begins
    if (microphone.checked) void this.#start();
    else this.#call.stopMicrophone();
  }

  async #start() {
    const call = this.#call;
    try {
      await call.startMicrophone();
    } catch (error) {
      if (this.#call !== call || call.state === 'ended' || !this.isWanted) return;
      this.switchOff();
      this.#parts.showProblem(error.message);
    }
  }

  #showLevel(stream) {
    const { level, levelNames } = this.#parts;
    level.hidden = stream === null;
    for (const name of levelNames) name.hidden = stream === null;
    if (stream === null) this.#meter.stop();
    else this.#meter.start(stream);
  }
}

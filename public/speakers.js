// Shows who speaks now: the voice, the caller, both or nobody.
//
//   utterance.started, utterance.resumed ─▶ the voice speaks     speech.started ─▶ the caller speaks
//   utterance.paused, or its end ────────▶ the voice is silent   speech.stopped ─▶ the caller is silent

const WORDS = {
  voice: 'The voice speaks',
  caller: 'You speak',
  both: 'You and the voice speak',
  nobody: 'Nobody speaks',
};
const STEADY_MS = 1000;

export class Speakers {
  #utterance;
  #isPaused = false;
  #isCallerHeard = false;

  /** `voice`, `caller`, `both` or `nobody`. */
  get now() {
    const isVoiceHeard = this.#utterance !== undefined && !this.#isPaused;
    if (isVoiceHeard) return this.#isCallerHeard ? 'both' : 'voice';
    return this.#isCallerHeard ? 'caller' : 'nobody';
  }

  /** Messages of the server that tell nothing of this are ignored. */
  apply({ type, utterance }) {
    switch (type) {
      case 'utterance.started':
        [this.#utterance, this.#isPaused] = [utterance, false];
        break;
      case 'utterance.paused':
      case 'utterance.resumed':
        if (utterance === this.#utterance) this.#isPaused = type === 'utterance.paused';
        break;
      case 'utterance.spoken':
      case 'utterance.interrupted':
      case 'utterance.failed':
        if (utterance === this.#utterance) this.#utterance = undefined;
        break;
      case 'speech.started':
        this.#isCallerHeard = true;
        break;
      case 'speech.stopped':
        this.#isCallerHeard = false;
    }
  }

  /** The server no longer hears the caller, and will not tell when the speech stops. */
  callerLeft() {
    this.#isCallerHeard = false;
  }
}

const involvesCaller = (who) => who === 'caller' || who === 'both';

/**
 * What a screen reader says after a change; undefined for nothing. The state of the call already tells when
 * the voice alone begins and ends.
 */
export function announcementOf(before, now) {
  if (before === now || !(involvesCaller(before) || involvesCaller(now))) return undefined;
  return `${WORDS[now]}.`;
}

/** The words on the page change at once. Those for screen readers change when it has been so for a second. */
export class SpeakerSign {
  #sign;
  #announce;
  #announced = 'nobody';
  #timer;

  /** `announce` is a live region. */
  constructor({ sign, announce }) {
    this.#sign = sign;
    this.#announce = announce;
  }

  show(who) {
    if (this.#sign.dataset.who === who) return;
    this.#sign.dataset.who = who;
    this.#sign.textContent = WORDS[who];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const words = announcementOf(this.#announced, who);
      this.#announced = who;
      if (words !== undefined) this.#announce.textContent = words;
    }, STEADY_MS);
  }

  set hidden(isHidden) {
    this.#sign.hidden = isHidden;
    if (isHidden) this.#announce.textContent = '';
  }
}

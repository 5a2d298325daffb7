// Runs in the audio thread: collects the microphone's samples and sends them in pieces of 16-bit PCM.
const PIECE_MS = 40;
const PIECE_SAMPLES = Math.round((sampleRate * PIECE_MS) / 1000);

class PcmSender extends AudioWorkletProcessor {
  #piece = new Int16Array(PIECE_SAMPLES);
  #filled = 0;

  process([[channel]]) {
    for (const sample of channel ?? []) {
      this.#piece[this.#filled++] = Math.max(-1, Math.min(1, sample)) * 32_767;
      if (this.#filled < PIECE_SAMPLES) continue;
      this.port.postMessage(this.#piece.buffer, [this.#piece.buffer]);
      this.#piece = new Int16Array(PIECE_SAMPLES);
      this.#filled = 0;
    }
    return true;
  }
}

registerProcessor('pcm-sender', PcmSender);

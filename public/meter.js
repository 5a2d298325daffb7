// The level of a sound, drawn as a strip of bars that moves to the left.
// For those who want no motion it is one level that changes four times a second.

const BAR_MS = 45;
const CALM_MS = 250;
const STEP = 7; // CSS pixels from bar to bar
const BAR = 3.5;
const LOUDEST = 0.25; // root mean square of a shout at full scale
const FLOOR = 0.045; // of the height: silence is a row of dots

export class Meter {
  #canvas;
  #color;
  #isVisible = false;
  #calm = matchMedia('(prefers-reduced-motion: reduce)');
  #context;
  #analyser;
  #samples;
  #bars = [];
  #lastBarAt = 0;
  #frame = 0;

  /** `color`: red, green and blue of the bars. */
  constructor(canvas, color = '86 214 184') {
    this.#canvas = canvas;
    this.#color = color;
    new ResizeObserver(() => this.#draw()).observe(canvas);
    new IntersectionObserver((entries) => {
      this.#isVisible = entries.at(-1).isIntersecting;
      this.#run();
    }).observe(canvas);
  }

  /** Starts with a sound. Must follow a press of a button, or the browser keeps it silent. */
  start(stream) {
    this.stop();
    this.#context = new AudioContext();
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = 1024;
    this.#samples = new Float32Array(this.#analyser.fftSize);
    this.#context.createMediaStreamSource(stream).connect(this.#analyser);
    this.#run();
  }

  stop() {
    cancelAnimationFrame(this.#frame);
    this.#context?.close().catch(() => undefined);
    this.#context = undefined;
    this.#analyser = undefined;
    this.#bars = [];
    this.#draw();
  }

  /** Measures while the canvas can be seen. A browser calls no animation frame of a hidden page. */
  #run() {
    cancelAnimationFrame(this.#frame);
    if (!this.#isVisible || this.#analyser === undefined) return;
    const loop = (now) => {
      this.#frame = requestAnimationFrame(loop);
      this.#tick(now);
    };
    this.#frame = requestAnimationFrame(loop);
  }

  #tick(now) {
    const everyMs = this.#calm.matches ? CALM_MS : BAR_MS;
    if (now - this.#lastBarAt < everyMs) return;
    this.#lastBarAt = now;
    this.#bars.push(this.#level());
    const room = Math.ceil(this.#canvas.clientWidth / STEP) + 1;
    if (this.#bars.length > room) this.#bars.splice(0, this.#bars.length - room);
    this.#draw();
  }

  /** From 0 to 1: bent so that soft sounds are seen and loud ones do not all look alike. */
  #level() {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    let sum = 0;
    for (const sample of this.#samples) sum += sample * sample;
    const rms = Math.sqrt(sum / this.#samples.length);
    return Math.min(1, (rms / LOUDEST) ** 0.75);
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (width === 0) return;
    const scale = devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * scale);
    this.#canvas.height = Math.round(height * scale);
    const pen = this.#canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.lineCap = 'round';
    pen.lineWidth = BAR;
    const count = Math.floor(width / STEP);
    const level = this.#bars.at(-1) ?? 0;
    for (let bar = 0; bar < count; bar++) {
      const age = count - 1 - bar;
      const value = this.#calm.matches ? Number(bar / count < level) : (this.#bars.at(-1 - age) ?? 0);
      const half = Math.max(FLOOR, value * 0.5) * (height - BAR);
      const x = width - (age + 0.5) * STEP;
      const fade = this.#calm.matches ? 1 : 1 - (0.75 * age) / count;
      pen.strokeStyle = value > 0.02 ? `rgb(${this.#color} / ${fade})` : 'rgb(169 196 188 / 0.35)';
      pen.beginPath();
      pen.moveTo(x, height / 2 - (value > 0.02 ? half : 0.01));
      pen.lineTo(x, height / 2 + (value > 0.02 ? half : 0.01));
      pen.stroke();
    }
  }
}

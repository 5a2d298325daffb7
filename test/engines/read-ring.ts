// Takes everything out of a ring, as a speech pipeline would.
import type { PcmRing } from '../../src/audio/pcm-ring.js';

export interface Taken {
  readonly samples: Float32Array;
  /** End status of the ring: an error code, empty for a complete end, `aborted` or `closed`. */
  readonly end: string;
}

const BLOCK_SAMPLES = 1000;

export async function readAll(ring: PcmRing): Promise<Taken> {
  const blocks: Float32Array[] = [];
  for (;;) {
    const block = new Float32Array(BLOCK_SAMPLES);
    const taken = ring.read(block);
    const status = ring.status();
    if (taken > 0) blocks.push(block.subarray(0, taken));
    else if (status === null) return { samples: join(blocks), end: 'closed' };
    else if (status.aborted) return { samples: join(blocks), end: 'aborted' };
    else if (status.ended && status.readable === 0) return { samples: join(blocks), end: status.error };
    else await readable(ring);
  }
}

/**
 * `ring.readable()`, for which the process stays: a watch alone does not keep it, and an engine may have
 * ended before the wait begins.
 */
export async function readable(ring: PcmRing): Promise<void> {
  const stay = setInterval(() => undefined, 60_000);
  try {
    await ring.readable();
  } finally {
    clearInterval(stay);
  }
}

function join(blocks: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    samples.set(block, at);
    at += block.length;
  }
  return samples;
}

/** The level of a sound: the root of its mean square. */
export function rms(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

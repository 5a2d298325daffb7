// The calls of a test file: they share one pool of encoders, since starting a
// worker costs more than a test, and those that a test opened are closed after it.
import { after, afterEach, before } from 'node:test';
import type { FrameCache } from '../../src/speaking/frame-cache.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { type CallOptions, type CallUnderTest, openCall } from './call-under-test.js';

export interface OpenCalls {
  /** Ready in tests; not before. */
  readonly encoders: EncoderPool;
  open(frames?: FrameCache, options?: CallOptions): CallUnderTest;
}

/** To be called once, at the top of the file. */
export function openCalls(): OpenCalls {
  let encoders: EncoderPool | undefined;
  const opened: CallUnderTest[] = [];
  const pool = (): EncoderPool => {
    if (encoders === undefined) throw new TypeError('no test is running');
    return encoders;
  };
  before(async () => {
    encoders = new EncoderPool({ workers: 1 });
    await encoders.ready();
  });
  after(() => encoders?.close());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((call) => call.close()));
  });
  return {
    get encoders() {
      return pool();
    },
    open(frames, options) {
      const under = openCall(pool(), frames, options);
      opened.push(under);
      return under;
    },
  };
}

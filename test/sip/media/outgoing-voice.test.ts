import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import type { SrtpKeys } from '../../../src/media/media-addon.js';
import type { MediaPlane } from '../../../src/media/media-plane.js';
import { OutgoingVoice, type VoiceFormat } from '../../../sip/media/outgoing-voice.js';
import { CM_KEYS, GCM_KEYS } from '../../media/plane-under-test.js';
import { countingBytes } from '../sdp/negotiation-under-test.js';
import { stage } from './media-under-test.js';

const formatWith = (srtp: SrtpKeys, codec: 'PCMU' | 'PCMA' = 'PCMU'): VoiceFormat => ({
  codec,
  packetTimeMs: 20,
  payloadType: codec === 'PCMU' ? 0 : 8,
  comfortNoise: undefined,
  srtp,
});

test('a change that finds no stream leaves the source as it was, and a later one goes on with it', (t) => {
  const { plane, pass } = stage(t);
  const socket = plane.openSocket({ mux: true });
  let full = false;
  const openStream: MediaPlane['openStream'] = (...given) => {
    if (full) throw new ParleyError('CALL_LIMIT', 'full');
    return plane.openStream(...given);
  };
  const voice = new OutgoingVoice({ openStream }, socket, countingBytes(3));
  t.after(() => voice.close());
  voice.follow(formatWith(CM_KEYS));
  voice.follow(formatWith(GCM_KEYS));
  const { ssrc } = voice.source;
  full = true;
  // Keys that were spent before need another source.
  assert.throws(() => voice.follow(formatWith(CM_KEYS)), { code: 'CALL_LIMIT' });
  assert.equal(voice.source.ssrc, ssrc);
  full = false;
  assert.equal(voice.follow(formatWith(GCM_KEYS, 'PCMA')), true);
  assert.equal(voice.source.ssrc, ssrc);
  assert.equal(voice.follow(formatWith(CM_KEYS, 'PCMA')), true);
  assert.notEqual(voice.source.ssrc, ssrc);
  pass(20);
});

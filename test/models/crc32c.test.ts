// CRC32C against the vectors of RFC 3720, B.4, and against the configuration of a published model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moonshineModelNamed } from '../../src/config/onnx-catalog.js';
import { Crc32c } from '../../src/models/crc32c.js';

function crc(...pieces: readonly Uint8Array[]): string {
  const checksum = new Crc32c();
  for (const piece of pieces) checksum.update(piece);
  return checksum.digest('hex');
}

test('the vectors of RFC 3720 have their checksums, in one piece or in several', () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, index) => index);
  assert.equal(crc(new Uint8Array(32)), '8a9136aa');
  assert.equal(crc(new Uint8Array(32).fill(255)), '62a8ab43');
  assert.equal(crc(ascending), '46dd794e');
  assert.equal(crc(ascending.subarray(0, 5), ascending.subarray(5, 5), ascending.subarray(5)), '46dd794e');
  assert.equal(crc(Buffer.from('123456789')), 'e3069283');
  assert.equal(crc(), '00000000');
});

test('the configuration of the published German model has the checksum of the catalogue', () => {
  const [encoder, decoder, c1] = [620, 512, 1240];
  const configuration = {
    encoder_dim: encoder,
    decoder_dim: decoder,
    depth: 10,
    nheads: 8,
    head_dim: 64,
    vocab_size: 12_288,
    bos_id: 1,
    eos_id: 2,
    frame_len: 80,
    total_lookahead: 16,
    d_model_frontend: encoder,
    c1,
    c2: encoder,
    frontend_state_shapes: {
      sample_buffer: [1, 79],
      sample_len: [1],
      conv1_buffer: [1, encoder, 4],
      conv2_buffer: [1, c1, 4],
      frame_count: [1],
    },
  };
  const bytes = Buffer.from(JSON.stringify(configuration, undefined, 2));
  const file = moonshineModelNamed('moonshine-small-de')?.files.find(({ name }) => name.endsWith('.json'));
  assert.equal(bytes.length, file?.bytes);
  assert.equal(Buffer.from(crc(bytes), 'hex').toString('base64'), file?.digest.text);
});

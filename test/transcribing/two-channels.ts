// Files with a channel for each side of a call, as recorders write them.

/** A WAV file of 16 bits. */
export function channelsWav(channels: readonly Float32Array[], rate = 16_000): Buffer {
  const data = interleaved(channels, 'LE');
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels.length, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * channels.length * 2, 28);
  head.writeUInt16LE(channels.length * 2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** A Sun AU file of 16 bits, which only ffmpeg reads. */
export function channelsAu(channels: readonly Float32Array[], rate = 16_000): Buffer {
  const data = interleaved(channels, 'BE');
  const head = Buffer.alloc(24);
  head.write('.snd', 0);
  const fields = [24, data.length, 3, rate, channels.length];
  for (const [n, field] of fields.entries()) head.writeUInt32BE(field, 4 + 4 * n);
  return Buffer.concat([head, data]);
}

/** Samples of a tone at half level. */
export function tone(hz: number, seconds: number, rate = 16_000): Float32Array {
  const length = Math.round(seconds * rate);
  return Float32Array.from({ length }, (_, n) => 0.5 * Math.sin((2 * Math.PI * hz * n) / rate));
}

function interleaved(channels: readonly Float32Array[], order: 'LE' | 'BE'): Buffer {
  const frames = Math.max(...channels.map(({ length }) => length));
  const data = Buffer.alloc(frames * channels.length * 2);
  for (const [index, channel] of channels.entries())
    for (const [frame, sample] of channel.entries()) {
      const at = (frame * channels.length + index) * 2;
      const value = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
      if (order === 'LE') data.writeInt16LE(value, at);
      else data.writeInt16BE(value, at);
    }
  return data;
}

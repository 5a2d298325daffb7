// The fmtp of Opus (RFC 7587 section 6): what the peer is able or willing to
// receive, and how we shall send because of it.

export interface OpusParameters {
  /** The peer makes use of forward error correction. */
  readonly useInbandFec: boolean;
  /** The peer would rather have nothing than encoded silence. */
  readonly useDtx: boolean;
  readonly stereo: boolean;
  readonly constantBitrate: boolean;
  /** Hz that the peer can play at most, 8000 to 48000. */
  readonly maxPlaybackRate: number;
  /** Bits a second that the peer takes at most, 6000 to 510000; undefined leaves it to the sender. */
  readonly maxAverageBitrate: number | undefined;
  /** Hz that the peer itself will send at most. */
  readonly spropMaxCaptureRate: number;
  /** The peer is likely to send two channels. */
  readonly spropStereo: boolean;
}

/** Values that are out of range count as not written. */
export function readOpusParameters(text: string | undefined): OpusParameters {
  const written = readParameters(text);
  const number = (name: string, least: number, most: number): number | undefined => {
    const value = written.get(name) ?? '';
    return /^\d{1,7}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? Number(value)
      : undefined;
  };
  return {
    useInbandFec: written.get('useinbandfec') === '1',
    useDtx: written.get('usedtx') === '1',
    stereo: written.get('stereo') === '1',
    constantBitrate: written.get('cbr') === '1',
    maxPlaybackRate: number('maxplaybackrate', 8000, 48_000) ?? 48_000,
    maxAverageBitrate: number('maxaveragebitrate', 6000, 510_000),
    spropMaxCaptureRate: number('sprop-maxcapturerate', 8000, 48_000) ?? 48_000,
    spropStereo: written.get('sprop-stereo') === '1',
  };
}

/** `name=value` pairs between semicolons, names in small letters; the first of a name counts. */
export function readParameters(text: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of (text ?? '').split(';')) {
    const at = part.indexOf('=');
    const name = (at < 0 ? part : part.slice(0, at)).trim().toLowerCase();
    if (name !== '' && !found.has(name)) found.set(name, at < 0 ? '' : part.slice(at + 1).trim());
  }
  return found;
}

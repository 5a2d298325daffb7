// Dissection of a capture by tshark, if installed. It confirms other checks and never replaces them.
import { spawnSync } from 'node:child_process';

interface Dissected {
  readonly [field: string]: unknown;
}

/** The layers of each packet; undefined where there is no tshark. */
export function dissected(file: string): readonly Dissected[] | undefined {
  const checks = ['-o', 'ip.check_checksum:TRUE', '-o', 'udp.check_checksum:TRUE'];
  const { error, stdout, status } = spawnSync(
    'tshark',
    ['-r', file, '-T', 'json', '--no-duplicate-keys', ...checks],
    {
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  if (error !== undefined || status !== 0) return undefined;
  const packets = JSON.parse(stdout) as { readonly _source: { readonly layers: Dissected } }[];
  return packets.map((packet) => packet._source.layers);
}

/** The value of a field, however deep. */
export function fieldOf(layers: unknown, name: string): unknown {
  if (typeof layers !== 'object' || layers === null) return undefined;
  if (name in layers) return (layers as Dissected)[name];
  for (const inner of Object.values(layers)) {
    const found = fieldOf(inner, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

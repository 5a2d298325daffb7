// The folder of a model of Moonshine with random weights, as `test/tools/make_light_ears.py` writes it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Random graphs come without a tokenizer: each token gets a word of its own. */
export function writePieces(folder: string): void {
  const path = join(folder, 'tokenizer.bin');
  if (existsSync(path)) return;
  const config = JSON.parse(readFileSync(join(folder, 'streaming_config.json'), 'utf8')) as {
    readonly vocab_size: number;
  };
  const pieces = Array.from({ length: config.vocab_size }, (_, n) => Buffer.from(`\u2581w${n}`));
  writeFileSync(path, Buffer.concat(pieces.flatMap((piece) => [Buffer.of(piece.length), piece])));
}

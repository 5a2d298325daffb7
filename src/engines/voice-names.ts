// Maps the voice names of OpenAI and Qwen to voices of this server, and finds the names nearest to a mistyped
// one.

// OpenAI's SDKs require one of these names. Each stands for the most similar voice of this server; in another
// language it means "no preference".
export const OPENAI_VOICES: Readonly<Record<string, string>> = {
  alloy: 'slt',
  ash: 'rms',
  ballad: 'awb',
  cedar: 'rms',
  coral: 'slt',
  echo: 'rms',
  fable: 'awb',
  marin: 'slt',
  nova: 'slt',
  onyx: 'kal16',
  sage: 'slt',
  shimmer: 'slt',
  verse: 'awb',
};

// The speakers of Qwen3-TTS's CustomVoice checkpoints. Without such a checkpoint these voices stand in for
// them.
export const QWEN_VOICES: Readonly<Record<string, string>> = {
  aiden: 'rms',
  dylan: 'rms',
  eric: 'awb',
  ono_anna: 'slt',
  ryan: 'rms',
  serena: 'slt',
  sohee: 'slt',
  uncle_fu: 'kal16',
  vivian: 'slt',
};

const STAND_INS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(OPENAI_VOICES),
  ...Object.entries(QWEN_VOICES),
]);

/** The voice that stands for one of OpenAI's or Qwen's; `name` in lower case. */
export function standInFor(name: string): string | undefined {
  return STAND_INS.get(name);
}

/** Every name that another voice can stand for. */
export const FOREIGN_NAMES: readonly string[] = [...STAND_INS.keys()];

/** Levenshtein: single characters inserted, removed or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const LONGEST_NAME = 64; // characters; a mistyped name is not longer

export function nearestNames(name: string, names: readonly string[], count: number): string[] {
  const wanted = name.slice(0, LONGEST_NAME).toLowerCase();
  return names
    .map((candidate) => ({ candidate, away: distance(wanted, candidate) }))
    .sort((a, b) => a.away - b.away)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

// A Dockerfile and a .dockerignore as data, as far as ours go.

interface Instruction {
  readonly word: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** An image, or the name of an earlier stage. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Its stages in order, each with a name. */
export function stagesOf(dockerfile: string): readonly Stage[] {
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  const lines = dockerfile.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const [, word = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === 'FROM') {
      const [, base, name] = /^(\S+) AS (\S+)$/.exec(text) ?? [];
      if (base === undefined || name === undefined) throw new Error(`not understood: ${line}`);
      stages.push({ name, base, instructions: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (stage === undefined || word === '') throw new Error(`not understood: ${line}`);
    // Options of RUN say nothing about what is run.
    stage.instructions.push({ word, text: word === 'RUN' ? text.replace(/^(--\S+\s+)+/, '') : text });
  }
  return stages;
}

/** True if a file is left out. The last rule that fits it, or a folder above it, decides. */
export function ignored(dockerignore: string, path: string): boolean {
  let left = false;
  for (const line of dockerignore.split('\n')) {
    const rule = line.trim();
    if (rule === '' || rule.startsWith('#')) continue;
    if (fits(rule.replace(/^!/, ''), path)) left = !rule.startsWith('!');
  }
  return left;
}

/** The rule may have `*`, which stands for anything but a slash. */
function fits(rule: string, path: string): boolean {
  const pattern = rule.replaceAll(/[.+^$(){}|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
  return new RegExp(`^${pattern}(?:/|$)`).test(path);
}

// Which engines can speak with a voice that is none of their own.
import { ParleyError } from '../errors.js';
import type { SpeechEngine } from './engine.js';
import { languageName, primaryTag } from './language-names.js';
import type { ReferenceKind } from './routing.js';

const WHAT: Readonly<Record<ReferenceKind, readonly [verb: string, what: string]>> = {
  sample: ['clone', 'speak with the voice of a sample'],
  prompt: ['design', 'make a voice from a description'],
};

/** Those that can, in order; ones that can do so now before others. */
export function whoCan(
  kind: ReferenceKind,
  engines: Iterable<SpeechEngine>,
  language: string | undefined,
): readonly SpeechEngine[] {
  const able = [...engines].filter((engine) => can(kind, engine) && speaks(engine, language));
  const now = able.filter(({ usable }) => usable);
  return now.length > 0 ? now : able;
}

/** Throws CAPABILITY_MISSING, naming the engines there are and what they lack. */
export function checkAble(
  kind: ReferenceKind,
  engines: ReadonlySet<SpeechEngine>,
  language: string | undefined,
  field: string,
): void {
  if (whoCan(kind, engines, language).length > 0) return;
  const [verb, what] = WHAT[kind];
  const lacks = [...engines].map((engine) => {
    if (!can(kind, engine)) return `${engine.name} cannot ${verb} voices`;
    return `${engine.name} does not speak ${languageName(language ?? '')}`;
  });
  const inLanguage = language === undefined ? '' : ` in ${languageName(language)}`;
  const message = `no engine of this server can ${what}${inLanguage}: ${lacks.join(', ')}`;
  throw new ParleyError('CAPABILITY_MISSING', message, { field });
}

function can(kind: ReferenceKind, { capabilities: { clone, design } }: SpeechEngine): boolean {
  return kind === 'sample' ? clone : design;
}

function speaks({ capabilities: { languages } }: SpeechEngine, language: string | undefined): boolean {
  return language === undefined || languages.includes(primaryTag(language));
}

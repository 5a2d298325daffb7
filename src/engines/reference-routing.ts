// Which engines can speak with a voice that is none of their own.
import { ParleyError } from '../errors.js';
import type { SpeechEngine } from './engine.js';
import { languageName, primaryTag } from './language-names.js';
import type { ReferenceKind } from './routing.js';

const WHAT: Readonly<Record<ReferenceKind, readonly [verb: string, what: string]>> = {
  sample: ['clone', 'speak with the voice of a sample'],
  prompt: ['design', 'make a voice from a description'],
};

const NAMED_AT_ONCE = 20;

/** Those that can, in order; ones that can do so now before others. */
export function whoCan(
  kind: ReferenceKind,
  engines: readonly SpeechEngine[],
  language: string | undefined,
): readonly SpeechEngine[] {
  const able = engines.filter((engine) => can(kind, engine) && speaks(engine, language));
  const now = able.filter(({ usable }) => usable);
  return now.length > 0 ? now : able;
}

/** Throws CAPABILITY_MISSING, naming every engine, and LANGUAGE_UNAVAILABLE with what those speak that can. */
export function checkAble(
  kind: ReferenceKind,
  engines: readonly SpeechEngine[],
  language: string | undefined,
  field: string,
): void {
  const [verb, what] = WHAT[kind];
  const able = engines.filter((engine) => can(kind, engine));
  if (able.length === 0) {
    const lacks = engines.map(({ name }) => `${name} cannot ${verb} voices`).join(', ');
    const message = `no engine of this server can ${what}: ${lacks}`;
    throw new ParleyError('CAPABILITY_MISSING', message, { field });
  }
  if (language === undefined || able.some((engine) => speaks(engine, language))) return;
  const spoken = able.map(({ name, capabilities }) => `${name} speaks ${namesOf(capabilities.languages)}`);
  const message = `no engine of this server can ${what} in ${languageName(language)}: ${spoken.join('; ')}`;
  throw new ParleyError('LANGUAGE_UNAVAILABLE', message, { field: 'language' });
}

function namesOf(languages: readonly string[]): string {
  const named = languages.slice(0, NAMED_AT_ONCE).map(languageName).join(', ');
  const others = languages.length - NAMED_AT_ONCE;
  return others > 0 ? `${named} and ${others} others` : named;
}

function can(kind: ReferenceKind, { capabilities: { clone, design } }: SpeechEngine): boolean {
  return kind === 'sample' ? clone : design;
}

function speaks({ capabilities: { languages } }: SpeechEngine, language: string | undefined): boolean {
  return language === undefined || languages.includes(primaryTag(language));
}

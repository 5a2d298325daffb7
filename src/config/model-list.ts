// Reads a variable that lists models with one language each: short names of the catalogue, folders, or none.
import type { ConfigReader } from './environment.js';
import type { Variable } from './variables.js';

/** A folder that an engine opens. */
export interface LanguageFolder {
  readonly directory: string;
  /** BCP 47 primary tag. */
  readonly language: string;
}

export interface ModelKind<Folder extends LanguageFolder> {
  readonly variable: Variable;
  /** Short names of the catalogue. */
  readonly names: readonly string[];
  /** Files that a folder must have, in words. */
  readonly files: string;
  readonly cache: string;
  /** The folders of the cache that are used if the variable is not set, preferred ones first. */
  complete(): readonly Folder[];
  /** Undefined for a name that the catalogue lacks. Its folder is undefined if the cache lacks the model. */
  named(name: string): { readonly name: string; readonly folder: Folder | undefined } | undefined;
  isFolder(directory: string): boolean;
  /** Undefined, with the problem reported, for a folder that cannot be used. */
  folderAt(directory: string): Folder | undefined;
}

/** The list of a variable that names no model. */
export const NONE = 'none';

/** Returns at most one folder for each language, preferred ones first. */
export function readModelList<Folder extends LanguageFolder>(
  read: ConfigReader<Variable>,
  kind: ModelKind<Folder>,
): readonly Folder[] {
  const { variable } = kind;
  const listed = read.list(variable);
  if (listed.length === 0) return kind.complete();
  if (listed.some((name) => name.toLowerCase() === NONE)) {
    if (listed.length > 1) read.problem(variable, `must be ${NONE} alone, or models without it`);
    return [];
  }
  const folders = listed.flatMap((name) => folderOf(read, name, kind) ?? []);
  checkLanguages(read, variable, folders);
  return folders;
}

/** Reports the second of two folders for one language. */
export function checkLanguages(
  read: ConfigReader<Variable>,
  variable: Variable,
  folders: readonly LanguageFolder[],
): void {
  for (const [index, { language, directory }] of folders.entries()) {
    const first = folders.findIndex((one) => one.language === language);
    if (first === index) continue;
    const both = `${folders[first]?.directory} and ${directory}`;
    read.problem(variable, `must have one model for each language, not two for ${language}: ${both}`);
  }
}

/** Undefined, with the problem reported, for a name without a model. */
function folderOf<Folder extends LanguageFolder>(
  read: ConfigReader<Variable>,
  name: string,
  kind: ModelKind<Folder>,
): Folder | undefined {
  const { variable, cache } = kind;
  const known = kind.named(name);
  if (known?.folder !== undefined) return known.folder;
  if (known !== undefined) {
    const command = `npm run parley -- pull ${known.name}`;
    read.problem(variable, `names ${known.name}, which is not in ${cache}; fetch it with: ${command}`);
    return undefined;
  }
  if (kind.isFolder(name)) return kind.folderAt(name);
  const names = kind.names.join(', ');
  read.problem(variable, `must be folders with ${kind.files}, or of ${names}; not "${name}"`);
  return undefined;
}

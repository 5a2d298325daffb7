// Reads the Markdown documents of the repository: their code blocks, headings and links.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

export interface CodeBlock {
  readonly document: string;
  /** The word after the backticks, such as `sh`; empty if there is none. */
  readonly language: string;
  readonly code: string;
}

interface Link {
  readonly document: string;
  readonly target: string;
}

/** The pages that a server shows under /guide, by path from the top of the repository. */
export function guidePages(): readonly string[] {
  const names = readdirSync(join(ROOT, 'public/docs')).filter((name) => name.endsWith('.md'));
  return names.toSorted().map((name) => `public/docs/${name}`);
}

/** Every document for people, by path from the top of the repository. */
export function documents(): readonly string[] {
  return ['README.md', 'CONTRIBUTING.md', ...guidePages()];
}

export const textOf = (document: string): string => readFileSync(join(ROOT, document), 'utf8');

const FENCE = /^```(\w*)\n([^]*?)^```$/gm;

export function codeBlocksOf(document: string): readonly CodeBlock[] {
  return Array.from(textOf(document).matchAll(FENCE), ([, language = '', code = '']) => ({
    document,
    language,
    code,
  }));
}

/** Links of the prose, without those in code. */
export function linksOf(document: string): readonly Link[] {
  const prose = textOf(document)
    .replaceAll(FENCE, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const inline = prose.matchAll(/\[[^\]]+\]\(([^)\s]+)\)/g);
  const plain = prose.matchAll(/<(https?:[^>\s]+)>/g);
  return Array.from([...inline, ...plain], ([, target = '']) => ({ document, target }));
}

/** Anchors as forges make them of headings: lower case, hyphens for spaces, no punctuation. */
function anchorsOf(document: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of textOf(document)
    .replaceAll(FENCE, '')
    .matchAll(/^#{1,6} (.+)$/gm)) {
    const base = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = base;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${base}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The reason why a link leads nowhere; undefined if it leads somewhere. Other hosts are not asked. */
export function brokenLink({ document, target }: Link): string | undefined {
  if (/^https?:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? document : posix.join(posix.dirname(document), path);
  if (!existsSync(join(ROOT, file))) return `${document}: there is no ${file}`;
  if (anchor === undefined || anchorsOf(file).has(anchor)) return undefined;
  return `${document}: ${file} has no heading for #${anchor}`;
}

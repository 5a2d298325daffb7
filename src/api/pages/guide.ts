// Serves the Markdown pages of public/docs as HTML at /guide, and the examples beside them as plain text.
// Every page is rendered once, at the first request. /guide/search finds sections by their words, without a
// script in the browser.
import type { FastifyInstance } from 'fastify';
import { Marked, type Token, type Tokens } from 'marked';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../errors.js';

interface Page {
  /** Path at this server: `/guide` for the index, `/guide/webrtc` for webrtc.md. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

/** A heading with what stands below it, up to the next heading. */
interface Section {
  /** With the anchor of the heading. */
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  /** Without Markdown. */
  readonly text: string;
}

const INDEX = 'README.md';
const EXAMPLES = 'examples';
const CONTENT_TYPE = 'text/html; charset=utf-8';
const SEARCH = '/guide/search';
const MOST_QUERY = 200; // characters
const MOST_RESULTS = 30;
const EXCERPT = 220; // characters, a quarter of them before the word that was found
const HIDDEN = { schema: { hide: true } }; // pages are no part of the OpenAPI document

/**
 * Adds a route for each page of the folder. The routes of the enclosing scope decide who may read them.
 * Rejects with NOT_FOUND, naming the folder, if its pages cannot be read.
 */
export async function addGuide(app: FastifyInstance, folder: string): Promise<void> {
  const pages = readFrom(folder, orderedPages);
  const examples = readFrom(join(folder, EXAMPLES), readExamples);
  let rendered: ReadonlyMap<string, string> | undefined;
  for (const { path } of pages) {
    app.get(path, HIDDEN, (_request, reply) => {
      rendered ??= renderPages(pages);
      return reply.type(CONTENT_TYPE).send(rendered.get(path));
    });
  }
  let sections: readonly Section[] | undefined;
  app.get<{ Querystring: { readonly q?: unknown } }>(SEARCH, HIDDEN, ({ query: { q } }, reply) => {
    const query = typeof q === 'string' ? q.slice(0, MOST_QUERY).trim() : '';
    sections ??= pages.flatMap(sectionsOf);
    return reply.type(CONTENT_TYPE).send(searchPage(query, sections, pages));
  });
  for (const [name, text] of examples) {
    app.get(`/guide/${EXAMPLES}/${name}`, HIDDEN, (_request, reply) =>
      reply.type('text/plain; charset=utf-8').send(text),
    );
  }
  app.get('/guide/', HIDDEN, (_request, reply) => reply.redirect('/guide'));
}

function readFrom<T>(folder: string, read: (folder: string) => T): T {
  try {
    return read(folder);
  } catch (error) {
    const message = `the pages of the guide cannot be read from ${folder}: ${(error as Error).message}`;
    throw new ParleyError('NOT_FOUND', message, { cause: error });
  }
}

/** The text of each example by its file name. */
function readExamples(folder: string): ReadonlyMap<string, string> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** The index first, the others in the order in which it links to them. */
function orderedPages(folder: string): readonly Page[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const index = readFileSync(join(folder, INDEX), 'utf8');
  const place = (name: string) => (name === INDEX ? -1 : index.indexOf(`(${name})`));
  return names
    .toSorted((a, b) => place(a) - place(b))
    .map((name) => {
      const markdown = readFileSync(join(folder, name), 'utf8');
      return { path: pathOf(name), title: /^# (.+)$/m.exec(markdown)?.[1] ?? name, markdown };
    });
}

function pathOf(name: string): string {
  return name === INDEX ? '/guide' : `/guide/${name.replace(/\.md$/, '')}`;
}

function renderPages(pages: readonly Page[]): ReadonlyMap<string, string> {
  return new Map(
    pages.map((page, at) => {
      const html = documentOf(page, pages, { before: pages[at - 1], after: pages[at + 1] });
      return [page.path, html];
    }),
  );
}

interface Neighbours {
  readonly before: Page | undefined;
  readonly after: Page | undefined;
}

function documentOf(page: Page, pages: readonly Page[], { before, after }: Neighbours): string {
  const step = (to: Page | undefined, rel: string, text: string) =>
    to === undefined ? '' : `<a rel="${rel}" href="${to.path}">${text}: ${escaped(to.title)}</a>`;
  const main = `${markdownToHtml(page.markdown)}
<p class="steps">${step(before, 'prev', 'Back')} ${step(after, 'next', 'Next')}</p>`;
  return frameOf({ title: page.title, path: page.path, main }, pages);
}

interface Framed {
  readonly title: string;
  /** Undefined for a page that is not in the list of pages. */
  readonly path?: string;
  readonly main: string;
  /** The words searched for. */
  readonly query?: string;
}

function frameOf({ title, path: own, main, query = '' }: Framed, pages: readonly Page[]): string {
  const items = pages.map(({ path, title: name }) => {
    const current = path === own ? ' aria-current="page"' : '';
    return `<li><a href="${path}"${current}>${escaped(name)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Parley</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/guide.css">
</head>
<body>
<header><a class="skip" href="#text">Skip to the text</a> <a href="/">Parley</a> <a href="/guide">Guide</a> <a href="/docs">API reference</a> <a class="to-pages" href="#pages">Pages</a>
<form class="search" role="search" action="${SEARCH}"><label for="q">Search the guide</label> <input id="q" name="q" type="search" value="${escaped(query)}" maxlength="${MOST_QUERY}" required> <button>Search</button></form></header>
<main id="text" tabindex="-1">
${main}
</main>
<nav id="pages" aria-label="Pages of the guide"><ol>${items.join('')}</ol></nav>
</body>
</html>
`;
}

function searchPage(query: string, sections: readonly Section[], pages: readonly Page[]): string {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const results = words.length === 0 ? [] : found(sections, words);
  const shown = results.slice(0, MOST_RESULTS);
  const count = `${results.length} ${results.length === 1 ? 'section has' : 'sections have'}`;
  const more = results.length > shown.length ? `, and the first ${shown.length} are shown` : '';
  const told =
    words.length === 0
      ? 'Type words into the field above.'
      : results.length === 0
        ? `No section has all words of “${escaped(query)}”.`
        : `${count} all words of “${escaped(query)}”${more}.`;
  const items = shown.map(({ path, page, heading, text }) => {
    const place = heading === page ? '' : `<span class="place">${escaped(page)}</span>`;
    return `<li><a href="${path}">${markedWords(heading, words)}</a> ${place}<p>${markedWords(excerptOf(text, words), words)}</p></li>`;
  });
  const list = items.length === 0 ? '' : `<ol class="found">${items.join('\n')}</ol>`;
  return frameOf(
    { title: 'Search', main: `<h1 id="search">Search</h1>\n<p>${told}</p>\n${list}`, query },
    pages,
  );
}

/**
 * The sections that have all words, the best first: a word in the heading counts more than one in the title
 * of the page, and that more than one in the text. `words` are in lower case.
 */
function found(sections: readonly Section[], words: readonly string[]): readonly Section[] {
  const patterns = words.map((word) => new RegExp(patternOf(word), 'iu'));
  return sections
    .flatMap((section) => {
      const places = [section.heading, section.page, section.text];
      const ranks = patterns.map((pattern) => places.findIndex((part) => pattern.test(part)));
      if (ranks.includes(-1)) return [];
      const isWhole = section.heading.toLowerCase() === words.join(' ');
      return [{ section, rank: isWhole ? -1 : ranks.reduce((sum, rank) => sum + rank, 0) }];
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ section }) => section);
}

/** The text around the first word that is in it. */
function excerptOf(text: string, words: readonly string[]): string {
  const at = text.search(anyOf(words));
  const from = at > EXCERPT / 4 ? text.indexOf(' ', at - EXCERPT / 4) + 1 : 0;
  const end = from + EXCERPT;
  return `${from > 0 ? '… ' : ''}${text.slice(from, end)}${end < text.length ? ' …' : ''}`;
}

/** Matches where a word of the text begins with this one. */
function patternOf(word: string): string {
  const literal = word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
  return String.raw`(?<![\p{L}\p{N}])` + literal;
}

function anyOf(words: readonly string[]): RegExp {
  return new RegExp(`(${words.map(patternOf).join('|')})`, 'giu');
}

/** As HTML. */
function markedWords(text: string, words: readonly string[]): string {
  const parts = text.split(anyOf(words));
  return parts.map((part, at) => (at % 2 === 0 ? escaped(part) : `<mark>${escaped(part)}</mark>`)).join('');
}

function sectionsOf({ path, title, markdown }: Page): readonly Section[] {
  const anchors = new Set<string>();
  const sections: { path: string; page: string; heading: string; text: string }[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === 'heading') {
      const anchor = anchorOf((token as Tokens.Heading).text, anchors);
      const heading = plainText((token as Tokens.Heading).text);
      sections.push({ path: `${path}#${anchor}`, page: title, heading, text: '' });
    } else {
      const section = sections.at(-1);
      if (section !== undefined) section.text = `${section.text} ${textOf(token)}`.trim();
    }
  }
  return sections;
}

function textOf(token: Token): string {
  if (token.type === 'code') return (token as Tokens.Code).text;
  return plainText(token.raw.replaceAll(/^\|[-|: ]+\|$/gm, ''));
}

/** Without marks of Markdown; cells of tables and lines are parted by a space. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/`|\*\*|^#+ |^- |^\d+\. /gm, '')
    .replaceAll(/[\s|]+/g, ' ')
    .trim();
}

/** Headings get the anchors that forges give them; links to other pages lead to this server's. */
function markdownToHtml(markdown: string): string {
  const anchors = new Set<string>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const anchor = anchorOf(text, anchors);
        const link =
          depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escaped(hrefAtServer(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

function hrefAtServer(href: string): string {
  if (href.startsWith(`${EXAMPLES}/`)) return `/guide/${href}`;
  const [, name, anchor = ''] = /^([\w-]+\.md)(#.*)?$/.exec(href) ?? [];
  return name === undefined ? href : pathOf(name) + anchor;
}

function anchorOf(heading: string, taken: Set<string>): string {
  const base = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  let anchor = base;
  for (let n = 1; taken.has(anchor); n++) anchor = `${base}-${n}`;
  taken.add(anchor);
  return anchor;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

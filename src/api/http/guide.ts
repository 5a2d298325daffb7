// Serves the Markdown pages of public/docs as HTML at /guide, and the examples beside them as plain text.
// Every page is rendered once, at the first request.
import type { FastifyInstance } from 'fastify';
import { Marked, type Tokens } from 'marked';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../errors.js';

interface Page {
  /** Path at this server: `/guide` for the index, `/guide/webrtc` for webrtc.md. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

const INDEX = 'README.md';
const EXAMPLES = 'examples';
const CONTENT_TYPE = 'text/html; charset=utf-8';
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
  const items = pages.map(({ path, title }) => {
    const current = path === page.path ? ' aria-current="page"' : '';
    return `<li><a href="${path}"${current}>${escaped(title)}</a></li>`;
  });
  const step = (to: Page | undefined, rel: string, text: string) =>
    to === undefined ? '' : `<a rel="${rel}" href="${to.path}">${text}: ${escaped(to.title)}</a>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} · Parley</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/guide.css">
</head>
<body>
<header><a href="/">Parley</a> <a href="/guide">Guide</a> <a href="/docs">API reference</a> <a class="to-pages" href="#pages">Pages</a></header>
<main>
${markdownToHtml(page.markdown)}
<p class="steps">${step(before, 'prev', 'Back')} ${step(after, 'next', 'Next')}</p>
</main>
<nav id="pages" aria-label="Pages of the guide"><ol>${items.join('')}</ol></nav>
</body>
</html>
`;
}

/** Headings get the anchors that forges give them; links to other pages lead to this server's. */
function markdownToHtml(markdown: string): string {
  const anchors = new Set<string>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const anchor = anchorOf(text, anchors);
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
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

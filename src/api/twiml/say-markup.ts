// The text of <Say>, with its SSML kept as SSML. An element or attribute of SSML that cannot be spoken is a
// warning, and the words in it are spoken without it: no mistake in the markup silences a caller's prompt.
import { ParleyError } from '../../errors.js';
import { type ElementRule, ELEMENTS, isFormal } from '../../text/markup/elements.js';
import { readMarkup } from '../../text/markup/read-markup.js';
import type { WarnAt } from './twiml-attributes.js';
import { elementsOf, textOf, type TwimlElement } from './twiml-document.js';

interface SaidText {
  readonly text: string;
  readonly format: 'text' | 'ssml';
}

/** Elements of SSML that <Say> may hold. */
const SAID = ['break', 'emphasis', 'lang', 'p', 'phoneme', 'prosody', 's', 'say-as', 'sub', 'w'];

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function saidText(say: TwimlElement, warn: WarnAt): SaidText {
  if (elementsOf(say).length === 0) return { text: textOf(say), format: 'text' };
  const inner = new SayWriter(warn).content(say, []).trim();
  if (inner === '') return { text: '', format: 'text' };
  const text = `<speak>${inner}</speak>`;
  try {
    readMarkup(text);
    return { text, format: 'ssml' };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const why = error.message.replace(/^.*?column \d+: /, '');
    warn(say, `the SSML of <Say> cannot be spoken: ${why}; its words are spoken without it`);
    return { text: allText(say).trim(), format: 'text' };
  }
}

class SayWriter {
  readonly #warn: WarnAt;

  constructor(warn: WarnAt) {
    this.#warn = warn;
  }

  content({ children }: TwimlElement, around: readonly string[]): string {
    return children
      .map((child) => (typeof child === 'string' ? escaped(child) : this.#element(child, around)))
      .join('');
  }

  #element(element: TwimlElement, around: readonly string[]): string {
    const { name } = element;
    const rule = SAID.includes(name) ? ELEMENTS[name] : undefined;
    if (rule === undefined) {
      this.#warn(
        element,
        `<Say> may hold ${SAID.join(', ')}, not <${name.slice(0, 40)}>; its words are said`,
      );
      return this.content(element, around);
    }
    const attributes = this.#attributes(element, rule);
    const missing = rule.required?.find((required) => !attributes.has(required));
    if (missing !== undefined) {
      this.#warn(element, `<${name}> must have a valid "${missing}"; its words are said without it`);
      return this.content(element, around);
    }
    const outer = around.find((parent) => rule.outside?.includes(parent) === true);
    if (outer !== undefined) {
      this.#warn(element, `<${name}> must not stand within <${outer}>; its words are said without it`);
      return this.content(element, around);
    }
    const written = [...attributes].map(([key, value]) => ` ${key}="${escaped(value)}"`).join('');
    return `<${name}${written}>${this.#inner(element, rule, around)}</${name}>`;
  }

  #inner(element: TwimlElement, rule: ElementRule, around: readonly string[]): string {
    if (rule.holds === 'speech') return this.content(element, [...around, element.name]);
    const strays = rule.holds === 'nothing' ? allText(element).trim() !== '' : elementsOf(element).length > 0;
    if (strays) {
      const allowed = rule.holds === 'nothing' ? 'must be empty' : 'may hold nothing but text';
      this.#warn(element, `<${element.name}> ${allowed}`);
    }
    return rule.holds === 'nothing' ? '' : escaped(allText(element));
  }

  #attributes(element: TwimlElement, rule: ElementRule): ReadonlyMap<string, string> {
    const kept = new Map<string, string>();
    for (const [name, value] of Object.entries(element.attributes)) {
      if (isFormal(name)) continue;
      const known = Object.hasOwn(rule.attributes, name) ? rule.attributes[name] : undefined;
      const shown = name.slice(0, 40);
      if (known === undefined) this.#warn(element, `<${element.name}> has no attribute "${shown}"`);
      else if (known.pattern.test(value)) kept.set(name, value);
      else this.#warn(element, `"${shown}" of <${element.name}> must be ${known.allowed}`);
    }
    return kept;
  }
}

function allText({ children }: TwimlElement): string {
  return children.map((child) => (typeof child === 'string' ? child : allText(child))).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}

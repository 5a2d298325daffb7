// Chooses the model to talk with: the stated one, the only one, or the one that the person names.
import { modelMeant } from './chat-models.js';
import type { ChatServer } from './chat-servers.js';

export interface ModelChoice {
  readonly server: ChatServer;
  readonly model: string;
}

type Chosen = { readonly choice: ModelChoice } | { readonly trouble: string; readonly isGivenUp: boolean };

interface Person {
  readonly out: (text: string) => void;
  /** Undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string | undefined>) | undefined;
}

const MOST_SHOWN = 20;
const MOST_QUESTIONS = 3;

/** `servers`: at least one. */
export async function chooseModel(
  servers: readonly ChatServer[],
  stated: string | undefined,
  person: Person,
): Promise<Chosen> {
  const all = servers.flatMap((server) => server.models.map((model) => ({ server, model })));
  if (stated !== undefined) return statedIn(all, stated, servers);
  const [first] = all;
  if (first === undefined) {
    const names = servers.map(({ name }) => name).join(', ');
    return trouble(`${names} lists no models: name one with --model NAME.`);
  }
  if (all.length === 1) return { choice: first };
  if (person.ask === undefined) {
    person.out(`${first.model} is the first of ${all.length} models; --model NAME chooses another.\n`);
    return { choice: first };
  }
  person.out(listOf(all));
  return await askedFrom(all, first, person.ask);
}

/** A server that lists nothing may have the model all the same. */
function statedIn(all: readonly ModelChoice[], stated: string, servers: readonly ChatServer[]): Chosen {
  const found = meantIn(all, stated);
  if (found !== undefined) return { choice: found };
  const silent = servers.find(({ models }) => models.length === 0);
  if (silent !== undefined) return { choice: { server: silent, model: stated } };
  const names = all.slice(0, MOST_SHOWN).map(({ model }) => model);
  const more = all.length > MOST_SHOWN ? ` and ${all.length - MOST_SHOWN} more` : '';
  return trouble(`no model is called "${stated}"; there are ${names.join(', ')}${more}.`);
}

function meantIn(all: readonly ModelChoice[], text: string): ModelChoice | undefined {
  const model = modelMeant(
    text,
    all.map((one) => one.model),
  );
  return all.find((one) => one.model === model);
}

function listOf(all: readonly ModelChoice[]): string {
  const lines = all
    .slice(0, MOST_SHOWN)
    .map(({ model, server }, index) => `${String(index + 1).padStart(4)}  ${model} (${server.name})`);
  const rest = all.length - MOST_SHOWN;
  const more = rest > 0 ? [`      and ${rest} more, by number or by name`] : [];
  return `${[...lines, ...more].join('\n')}\n`;
}

async function askedFrom(
  all: readonly ModelChoice[],
  first: ModelChoice,
  ask: (question: string) => Promise<string | undefined>,
): Promise<Chosen> {
  for (let question = 0; question < MOST_QUESTIONS; question++) {
    const answer = (await ask('Which model? [1] '))?.trim();
    if (answer === undefined) return { trouble: '', isGivenUp: true };
    if (answer === '') return { choice: first };
    const choice = /^\d{1,4}$/.test(answer) ? all[Number(answer) - 1] : meantIn(all, answer);
    if (choice !== undefined) return { choice };
  }
  return trouble(`no model was chosen: answer with a number from 1 to ${all.length}, or with a name.`);
}

function trouble(text: string): Chosen {
  return { trouble: text, isGivenUp: false };
}

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
  const listed = servers.flatMap((server) => server.models.map((model) => ({ server, model })));
  // A model of this machine comes first: it is what Enter chooses.
  const all = [...listed.filter((one) => !isRemote(one)), ...listed.filter(isRemote)];
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
  return await askedFrom(all, first, person);
}

function isRemote({ server, model }: ModelChoice): boolean {
  return server.elsewhere?.has(model) === true;
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
    .map((one, index) => `${String(index + 1).padStart(4)}  ${one.model} (${placeOf(one)})`);
  const rest = all.length - MOST_SHOWN;
  const more = rest > 0 ? [`      and ${rest} more, by number or by a part of the name`] : [];
  return `${[...lines, ...more].join('\n')}\n`;
}

function placeOf({ server, model }: ModelChoice): string {
  const host = server.elsewhere?.get(model);
  return host === undefined ? server.name : `${server.name}, runs at ${host}`;
}

async function askedFrom(all: readonly ModelChoice[], first: ModelChoice, person: Person): Promise<Chosen> {
  let shown = all;
  for (let question = 0; question < MOST_QUESTIONS; question++) {
    const answer = (await person.ask?.('Which model? [1] '))?.trim();
    if (answer === undefined) return { trouble: '', isGivenUp: true };
    if (answer === '') return { choice: shown[0] ?? first };
    const isNumber = /^\d{1,4}$/.test(answer);
    const choice = isNumber ? shown[Number(answer) - 1] : meantIn(all, answer);
    if (choice !== undefined) return { choice };
    if (isNumber) continue;
    const parts = all.filter(({ model }) => model.toLowerCase().includes(answer.toLowerCase()));
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return { choice: only };
    if (parts.length === 0) continue;
    shown = parts;
    person.out(listOf(shown));
  }
  return trouble(
    `no model was chosen: answer with a number from 1 to ${all.length}, or with a part of a name.`,
  );
}

function trouble(text: string): Chosen {
  return { trouble: text, isGivenUp: false };
}

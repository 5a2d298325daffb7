// Writes public/docs/configuration.md from the table of variables and from what the readers accept.
//
//   npm run docs:configuration
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readConfig } from '../../src/config/config.js';
import { ConfigReader, type Environment } from '../../src/config/environment.js';
import { SECTIONS, type Variable, VARIABLES } from '../../src/config/variables.js';
import { ROOT } from './markdown.js';

export const PAGE = 'public/docs/configuration.md';

const HEAD = `# Configuration

Environment variables configure the server. \`--port\` and \`--host\` of the command line override \`PORT\` and \`HOST\`; \`--help\` and
\`--version\` print more. The program rejects any other argument with exit code 64.

\`\`\`sh
PORT=9000 LOG_LEVEL=debug npm start
\`\`\`

- The server reports all mistakes at once and ends with exit code 78. It warns about a name that is nearly one of these.
- A flag accepts \`1\`, \`true\`, \`yes\`, \`on\` and \`0\`, \`false\`, \`no\`, \`off\`.
- \`TORCH_COMPILE\` and its variants are accepted and have no effect.

The command \`npm run docs:configuration\` writes this page from \`src/config/variables.ts\` and from the readers beside it.
`;

interface Fact {
  readonly default: string;
  readonly values: string;
}

/** Notes the default and the accepted values that the readers state. */
class NotingReader extends ConfigReader<Variable> {
  readonly facts = new Map<Variable, Fact>();

  override number(name: Variable, fallback: number, min: number, max: number): number {
    this.facts.set(name, { default: String(fallback), values: `${shown(min)} to ${shown(max)}` });
    return super.number(name, fallback, min, max);
  }

  override flag(name: Variable, fallback = false): boolean {
    this.facts.set(name, { default: fallback ? '1' : '0', values: '0, 1' });
    return super.flag(name, fallback);
  }

  override choice<T extends string>(name: Variable, allowed: readonly T[], fallback: T): T {
    this.facts.set(name, { default: fallback, values: allowed.join(', ') });
    return super.choice(name, allowed, fallback);
  }
}

/** Variables that are read only if they are set. */
const SET: Environment = {
  UDP_PORT_MIN: '5000',
  UDP_PORT_MAX: '6000',
  SIP_TLS_PORT: '5061',
  CODEC_FORMAT: 'f32',
};

function shown(value: number): string {
  const power = Math.log2(value);
  return power > 20 && Number.isInteger(power) ? `2^${power}` : String(value);
}

function factsOf(env: Environment): ReadonlyMap<Variable, Fact> {
  const reader = new NotingReader(env);
  try {
    readConfig(env, undefined, reader);
  } catch {
    // Some settings miss others that they need; everything was read all the same.
  }
  return reader.facts;
}

/** Throws if no default is known of a variable. */
export function configurationPage(): string {
  const usual = factsOf({});
  const whenSet = factsOf(SET);
  const row = (name: Variable): string => {
    const entry = VARIABLES[name];
    const fallback = entry.default ?? usual.get(name)?.default;
    if (fallback === undefined) throw new Error(`src/config/variables.ts: ${name} has no default`);
    const values = entry.values ?? usual.get(name)?.values ?? whenSet.get(name)?.values ?? '';
    return `| \`${name}\` | ${entry.meaning} | ${values} | ${fallback} |`;
  };
  const sections = Object.entries(SECTIONS).map(([title, variables]) => {
    const rows = Object.keys(variables).map((name) => row(name as Variable));
    return `## ${title}\n\n| variable | meaning | values | default |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `${HEAD}\n${sections.join('\n')}`;
}

const program = process.argv[1];
if (program !== undefined && import.meta.url === pathToFileURL(realpathSync(program)).href) {
  writeFileSync(join(ROOT, PAGE), configurationPage());
}

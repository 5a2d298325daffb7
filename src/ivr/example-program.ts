// The example of a call program: a menu by keys and speech. It answers extension 600 of a server without
// rules, agents and TWIML_URL, and every rule may name it.
import { EXAMPLE_PROGRAM } from '../config/ivr-config.js';
import { type ProgramTable, readPrograms } from './program-reader.js';

const { name: MENU } = EXAMPLE_PROGRAM;
const EXAMPLE = {
  programs: {
    [MENU]: [
      { say: { text: 'Welcome. This is the example menu of Parley.', language: 'en' } },
      {
        gather: {
          input: ['keys', 'speech'],
          keys: 1,
          timeout: 5,
          language: 'en',
          prompts: [
            { say: { text: 'Press 1, or say billing. Press 2, or say opening hours.', language: 'en' } },
          ],
          choices: {
            '1': 'example billing',
            '2': 'example hours',
            billing: 'example billing',
            hours: 'example hours',
          },
          otherwise: MENU,
        },
      },
      { say: { text: 'We have heard nothing. Goodbye.', language: 'en' } },
      { hangup: {} },
    ],
    'example billing': [
      { say: { text: 'You have reached billing. Goodbye.', language: 'en' } },
      { hangup: {} },
    ],
    'example hours': [
      { say: { text: 'We are here from Monday to Friday, from 9 to 5.', language: 'en' } },
      { redirect: MENU },
    ],
  },
};

export const EXAMPLE_PROGRAMS: ProgramTable = readExample();

function readExample(): ProgramTable {
  const { programs, problems = [] } = readPrograms(JSON.stringify(EXAMPLE));
  if (programs === undefined) throw new Error(`the example program has mistakes: ${problems.join('; ')}`);
  return programs;
}

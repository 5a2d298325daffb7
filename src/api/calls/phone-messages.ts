// Messages of the sockets of telephone calls, held against the schemas that the
// routes have: what is wrong is refused in the same words.
import type { FastifyInstance } from 'fastify';
import type { CommandName } from './phone-commands.js';
import type { PhoneDesk } from './phone-desk.js';
import { dropNullFields, fieldRefusal } from '../http/validation.js';
import type { JsonSchema } from '../http/json-schema.js';
import { DTMF_BODY, PLAY_MESSAGE, sayBody, TRANSFER_BODY } from './phone-bodies-schema.js';
import type { SpeechFieldLimits } from '../openai/speech-fields-schema.js';

interface Validator {
  (value: unknown): boolean;
  readonly errors?: Parameters<typeof fieldRefusal>[0] | null;
}

/** Compiles the schemas when the routes of this scope are there, with the validator that they have. */
export function addMessageCheck(app: FastifyInstance, desk: PhoneDesk, limits: SpeechFieldLimits): void {
  const schemas: Partial<Record<CommandName, JsonSchema>> = {
    say: sayBody(limits),
    play: PLAY_MESSAGE,
    dtmf: DTMF_BODY,
    transfer: TRANSFER_BODY,
  };
  app.addHook('onReady', async () => {
    const compile = app.validatorCompiler;
    if (compile === undefined) throw new Error('the routes of calls have no validator');
    const validators = new Map(
      Object.entries(schemas).map(([name, schema]) => [
        name,
        compile({ schema, method: 'POST', url: name, httpPart: 'body' }) as Validator,
      ]),
    );
    desk.check = (command, body) => {
      dropNullFields(body);
      const valid = validators.get(command);
      if (valid !== undefined && !valid(body)) throw fieldRefusal(valid.errors ?? []);
    };
  });
}

// How requests are held against the schemas of their routes: what is not right
// is refused, and nothing is changed to make it so.
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { fieldRefusal } from './field-refusal-schema.js';
import { OWN_KEYWORDS } from './json-schema.js';
import { dropNullFields } from './null-fields-schema.js';

/** Of the validator, for the making of the application. */
export const VALIDATION = {
  ajv: {
    customOptions: {
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      // The sentence of a refusal is made of the schema that refused.
      verbose: true,
      keywords: [...OWN_KEYWORDS],
      allowUnionTypes: true,
    },
  },
  schemaErrorFormatter: fieldRefusal,
} satisfies FastifyServerOptions;

/** For all routes that are added after it. */
export function addValidation(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema?.body === undefined) return;
    const others = [route.preValidation ?? []].flat();
    route.preValidation = [
      (request, _reply, done) => {
        dropNullFields(request.body);
        done();
      },
      ...others,
    ];
  });
  // Schemas of answers are documentation: an answer is what the route made, field for field.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
}

// Requests made from the document itself, right in some fields and wrong in
// others: whatever comes is answered, and never as the server's own fault.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorIn, openApp } from './app-under-test.js';
import { documentOf, operationsOf, type Schema } from './openapi-document.js';

const RUNS = 300; // of each address; the same in every run
const SEED = 20_261;
const LONGEST = 60; // characters of a made text; limits are met from both sides

/** Values that the schema allows, as far as it is made of keywords of the document. */
function allowed(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(allowed));
  const { minimum: min, maximum: max } = schema;
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Math.max(min ?? -1000, -(2 ** 31)), max: Math.min(max ?? 1000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: min ?? -10, max: max ?? 10, noNaN: true });
    case 'array':
      return fc.array(allowed(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      });
    case 'object':
      return objects(schema);
    default:
      return texts(schema);
  }
}

function texts({
  pattern,
  examples = [],
  minLength = 0,
  maxLength = LONGEST,
}: Schema): fc.Arbitrary<unknown> {
  if (pattern !== undefined) return fc.constantFrom(...examples, 'en', 'English', 'pt-BR', 'auto', 'x_y_z');
  const made = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, LONGEST) });
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom('Hello.', 'slt', '…', '🙂', ...examples) }, made);
}

/** What is required, and a few of the other fields. */
function objects({ properties = {}, required = [] }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return fc.subarray(optional, { maxLength: Math.min(4, optional.length) }).chain((names) => {
    const fields = [...required, ...names].map((name) => [name, allowed(properties[name] ?? {})] as const);
    return fc.record(Object.fromEntries(fields));
  });
}

/** The same, half of the time with one field that is most likely wrong. */
function bodies(schema: Schema): fc.Arbitrary<unknown> {
  const names = Object.entries(schema.properties ?? {});
  const damage = fc.constantFrom(...names).chain(([name, field]) => fc.record({ [name]: wrong(field) }));
  const damaged = fc.tuple(objects(schema), damage).map(([body, field]) => ({ ...body, ...field }));
  return fc.oneof(
    { weight: 10, arbitrary: objects(schema) },
    { weight: 9, arbitrary: damaged },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

/** Beside a limit, or anything. */
function wrong({ minimum, maximum, maxLength }: Schema): fc.Arbitrary<unknown> {
  const beside = [minimum, maximum].flatMap((limit) => (limit === undefined ? [] : [limit - 1, limit + 1]));
  const long = maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)];
  return fc.oneof(
    fc.constantFrom<unknown>(null, '', 0, {}, [], ...beside, ...long),
    fc.jsonValue({ maxDepth: 3 }),
  );
}

test('every address that takes JSON answers every body, and refuses with an error object', async (t) => {
  const under = await openApp(t);
  under.speech.whole = ['sound'];
  under.phone.add('slt');
  under.speech.can = { engine: 'all', clone: true, design: false, instruct: true, sampling: true };
  const taking = operationsOf(await documentOf(under)).flatMap(({ path, method, operation }) => {
    const schema = operation.requestBody?.content['application/json']?.schema;
    return schema === undefined ? [] : [{ url: path.replace(/\{\w+\}/g, 'slt'), method, operation, schema }];
  });
  assert.ok(taking.some(({ url }) => url === '/v1/audio/speech'));
  for (const { url, method, operation, schema } of taking) {
    const counts = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(bodies(schema), async (body) => {
        const request = { method: method as 'POST', url, headers: { 'content-type': 'application/json' } };
        const answer = await under.app.inject({ ...request, payload: JSON.stringify(body) });
        const { statusCode: status } = answer;
        counts.set(status, (counts.get(status) ?? 0) + 1);
        assert.ok(status < 500 || Object.hasOwn(operation.responses, status), `${status}: ${answer.body}`);
        if (status < 400) return;
        const { message, type, param, code } = errorIn(answer.body);
        assert.ok(message.length > 0 && type.endsWith('_error') && typeof code === 'string');
        assert.ok(param === null || message.includes(`"${param}"`), message);
      }),
      { seed: SEED, numRuns: RUNS },
    );
    // Neither all right nor all wrong, or nothing would be shown.
    const spoken = [...counts].reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0);
    const shown = `${url}: ${JSON.stringify([...counts])}`;
    assert.ok(spoken > RUNS / 20 && (counts.get(400) ?? 0) > RUNS / 20, shown);
  }
});

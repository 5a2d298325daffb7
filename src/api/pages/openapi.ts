// Builds the OpenAPI document from the schemas of the routes, and serves it with a page to read it.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyRequest, FastifySchema, RouteOptions } from 'fastify';
import { PROBLEM, PROBLEM_TYPE } from '../http/problem-details.js';
import { forwardedPrefix } from '../http/browser-headers.js';
import { type Content, ERROR, type JsonSchema, TAGS } from '../http/json-schema.js';

const INFO = {
  title: 'Parley',
  version: '1', // version of the paths under /v1
  description:
    'Text to speech over HTTP, and speech in calls. OpenAI clients work with `/v1` as their base URL.',
};

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: "one of the server's keys, where it has any" },
  xiApiKey: { type: 'apiKey', in: 'header', name: 'xi-api-key', description: "the same in ElevenLabs' way" },
} as const;

/** The hash of the one inline style of the page. It has no inline scripts. */
const PAGE_STYLE = "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='";

/** Must be added before the routes that the document describes. */
export function addOpenApi(app: FastifyInstance): void {
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: INFO,
      tags: Object.values(TAGS).map((name) => ({ name })),
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    transform: ({ schema, url, route }) => ({ schema: documented(schema, route), url }),
    transformObject: (made) =>
      'openapiObject' in made ? withErrors(made.openapiObject) : made.swaggerObject,
  });
}

/** Serves the document and the page. Both are open to all: the source is public. */
export async function addDocumentRoutes(app: FastifyInstance): Promise<void> {
  app.get('/openapi.json', { config: { access: 'open' }, schema: { hide: true } }, (request, reply) =>
    reply.send(atPrefix(app.swagger(), request)),
  );
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { tryItOutEnabled: true },
    transformSpecification: atPrefix,
    transformSpecificationClone: false,
    transformStaticCSP: (policy) => policy.replace("style-src 'self'", `style-src 'self' ${PAGE_STYLE}`),
  });
}

/** The document with the address of the server behind a proxy, if the request came through one. */
function atPrefix<T extends object>(document: T, request: FastifyRequest): T {
  const url = forwardedPrefix(request);
  return url === '' ? document : { ...document, servers: [{ url }] };
}

/** The schema of a route for the document. */
function documented({ otherBodies, ...schema }: FastifySchema, { config }: RouteOptions): FastifySchema {
  const security = (config?.access ?? 'key') === 'open' ? [] : [{ bearer: [] }, { xiApiKey: [] }];
  const body = bodyOf(schema.body as JsonSchema | { readonly content: Content } | undefined, otherBodies);
  return { ...schema, security, ...(body === undefined ? {} : { body }) };
}

function bodyOf(json: JsonSchema | { readonly content: Content } | undefined, others: Content | undefined) {
  if (others === undefined) return json;
  const own =
    json === undefined ? {} : 'content' in json ? json.content : { 'application/json': { schema: json } };
  return { content: { ...own, ...others } };
}

interface Document {
  readonly paths?: unknown;
  readonly components?: unknown;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly responses: Record<string, { content?: unknown }>;
}

/** By the name of their schema and of their response in the document. */
const ERRORS = {
  Error: contentOf('application/json', 'Error'),
  Problem: contentOf(PROBLEM_TYPE, 'Problem'),
} as const;

function contentOf(type: string, schema: string) {
  return { [type]: { schema: { $ref: `#/components/schemas/${schema}` } } };
}

/** Adds the error as the default answer of every route and to documented error statuses without a body. */
function withErrors<T extends Document>(document: T): T {
  const paths = Object.values(document.paths ?? {}) as Record<string, Operation>[];
  for (const { tags, responses } of paths.flatMap((path) => Object.values(path))) {
    const name = tags?.[0] === TAGS.whip ? 'Problem' : 'Error';
    for (const [status, answer] of Object.entries(responses)) {
      if (Number(status) >= 400) answer.content ??= ERRORS[name];
    }
    responses['default'] = { $ref: `#/components/responses/${name}` } as { content?: unknown };
  }
  const responses = Object.fromEntries(
    Object.entries(ERRORS).map(([name, content]) => [name, { description: 'what was wrong', content }]),
  );
  const schemas = { Error: ERROR, Problem: PROBLEM };
  const components = { ...(document.components as object | undefined), schemas, responses };
  return { ...document, components };
}

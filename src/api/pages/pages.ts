// Serves the files of the web page, the guide, and the OpenAPI document. All of them are open to everybody.
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addGuide } from './guide.js';
import { addDocumentRoutes, addOpenApi } from './openapi.js';

/** Must be called before the routes are added that the OpenAPI document describes. */
export function addPages(app: FastifyInstance, pageFolder: string): void {
  addOpenApi(app);
  void app.register(async (scope) => addOpenRoutes(scope, pageFolder));
}

async function addOpenRoutes(app: FastifyInstance, pageFolder: string): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'open' };
    route.schema = { ...route.schema, hide: true }; // files are not part of the API
  });
  // Every file is a route of its own, known at the start, so no other file of the disk can be requested.
  const files = { root: pageFolder, wildcard: false, cacheControl: false, globIgnore: ['docs/**'] };
  await app.register(fastifyStatic, files);
  await addDocumentRoutes(app);
  await addGuide(app, join(pageFolder, 'docs'));
}

/** The folder of the web page: `public/` beside package.json, from the sources or from dist. */
export function pageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return join(folder, 'public');
}

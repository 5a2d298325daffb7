// The document as tests read it.
import type { openApp } from './app-under-test.js';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

interface Operation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export async function documentOf({ app }: Awaited<ReturnType<typeof openApp>>): Promise<Document> {
  return (await app.inject('/openapi.json')).json<Document>();
}

/** Every operation with its method and path. */
export function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );
}

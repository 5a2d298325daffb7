// Serves the word tables of an API key under /v1/text/tables: the body of a request is the table itself, as
// tab-separated text.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ParleyError } from '../../errors.js';
import { KEY_LIMITS, type KeyTables, type StoredTable } from '../../speaking/key-tables.js';
import { languageName, supportedLanguages } from '../../text/normalize/languages.js';
import { isTableClass, TABLE_CLASSES, type TableClass } from '../../text/tables/schema.js';
import {
  INTEGER,
  jsonAnswer,
  listOf,
  NO_BODY,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';

/** The tables of keys; `identityOf` names the key of a client. */
export interface TableStore {
  readonly keys: Pick<KeyTables, 'list' | 'find' | 'put' | 'remove' | 'sizeOf'>;
  identityOf(client: string): string | undefined;
}

const TSV = 'text/tab-separated-values';
const TYPES = [TSV, 'text/plain'];
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

const LANGUAGE = { ...STRING, description: 'BCP 47 tag, such as `it` or `de-CH`' };
const CLASS = { type: 'string', enum: TABLE_CLASSES } as const;
const BY_LANGUAGE = object({ language: LANGUAGE });
const BY_CLASS = object({ language: LANGUAGE, class: STRING });
const TAG = [TAGS.speech] as const;
const NONE = { 404: { description: 'there is no such table, class or language; the message lists them' } };

const TABLE = object(
  {
    object: { type: 'string', enum: ['text.table'] },
    language: STRING,
    class: CLASS,
    rows: INTEGER,
    bytes: INTEGER,
    changed_at: { ...STRING, format: 'date-time' },
    error: {
      ...STRING,
      description: 'the mistake in a stored table that this version refuses and does not use',
    },
  },
  ['error'],
);

const LIST_SCHEMA: RouteSchema = {
  summary: "The key's word tables of a language",
  tags: TAG,
  params: BY_LANGUAGE,
  response: {
    200: jsonAnswer(
      'its tables, and the size of all tables of the key in all languages',
      object({
        object: { type: 'string', enum: ['list'] },
        data: listOf(TABLE),
        rows: INTEGER,
        bytes: INTEGER,
        max_rows: INTEGER,
        max_bytes: INTEGER,
      }),
    ),
    ...NONE,
  },
};

const GET_SCHEMA: RouteSchema = {
  summary: 'A word table of the key, as it was stored',
  tags: TAG,
  params: BY_CLASS,
  response: { 200: { description: 'the table', content: { [TSV]: { schema: STRING } } }, ...NONE },
};

const PUT_SCHEMA: RouteSchema = {
  summary: 'Store a word table, which replaces that of its class',
  description:
    'It applies to everything that this key speaks, from the next sentence on. Rows are tab-separated: the written form, then the spoken one. A bad row is refused with the number of its line.',
  tags: TAG,
  params: BY_CLASS,
  otherBodies: { [TSV]: { schema: STRING }, 'text/plain': { schema: STRING } },
  response: {
    200: jsonAnswer('the table is stored', TABLE),
    ...NONE,
    413: { description: `a key may have ${KEY_LIMITS.rows} rows and ${KEY_LIMITS.bytes} bytes` },
  },
};

const DELETE_SCHEMA: RouteSchema = {
  summary: 'Remove a word table of the key',
  tags: TAG,
  params: BY_CLASS,
  response: { 204: NO_BODY, ...NONE },
};

type ByLanguage = { Params: { language: string } };
type ByClass = { Params: { language: string; class: string } };

const PATH = '/v1/text/tables/:language';

/** Registers on a scope of its own, which takes tab-separated bodies. */
export function addTableRoutes(app: FastifyInstance, store: TableStore): void {
  const { keys } = store;
  const keyOf = ({ client }: FastifyRequest) => keyIn(store.identityOf(client));
  app.addContentTypeParser(
    TYPES,
    { parseAs: 'buffer', bodyLimit: KEY_LIMITS.bytes },
    (_request, body, done) => done(null, body),
  );

  app.get<ByLanguage>(PATH, { schema: LIST_SCHEMA }, (request, reply) => {
    const key = keyOf(request);
    const tables = keys.list(key, languageIn(request.params.language));
    const { rows, bytes } = keys.sizeOf(key);
    return reply.send({
      object: 'list',
      data: tables.map(tableJson),
      rows,
      bytes,
      max_rows: KEY_LIMITS.rows,
      max_bytes: KEY_LIMITS.bytes,
    });
  });

  app.get<ByClass>(`${PATH}/:class`, { schema: GET_SCHEMA }, (request, reply) => {
    const [language, name] = placeIn(request.params);
    const table = keys.find(keyOf(request), language, name);
    if (table === undefined) throw absent(language, name);
    return reply.type(`${TSV}; charset=utf-8`).serializer(String).send(table.text);
  });

  app.put<ByClass>(`${PATH}/:class`, { schema: PUT_SCHEMA }, async (request) => {
    const [language, name] = placeIn(request.params);
    return tableJson(await keys.put(keyOf(request), language, name, textIn(request)));
  });

  app.delete<ByClass>(`${PATH}/:class`, { schema: DELETE_SCHEMA }, async (request, reply) => {
    const [language, name] = placeIn(request.params);
    if (!(await keys.remove(keyOf(request), language, name))) throw absent(language, name);
    return reply.code(204).send();
  });
}

function keyIn(identity: string | undefined): string {
  if (identity !== undefined) return identity;
  throw new ParleyError('UNAUTHORIZED', 'word tables belong to an API key, and this request has none');
}

function placeIn(params: ByClass['Params']): [language: string, name: TableClass] {
  const language = languageIn(params.language);
  const { class: name } = params;
  if (isTableClass(name)) return [language, name];
  const message = `there is no class "${name}" of word tables; the classes are ${TABLE_CLASSES.join(', ')}`;
  throw new ParleyError('NOT_FOUND', message, { field: 'class' });
}

function languageIn(tag: string): string {
  const language = languageName(tag);
  if (language !== undefined) return language;
  const known = supportedLanguages().join(', ');
  const message = `there is no language "${tag}" of word tables; the languages are ${known}`;
  throw new ParleyError('NOT_FOUND', message, { field: 'language' });
}

/** The body as text. Throws UNSUPPORTED_MEDIA_TYPE and MALFORMED. */
function textIn({ body, headers }: FastifyRequest): string {
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!(body instanceof Uint8Array) || !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the body must be ${TYPES.join(' or ')} in UTF-8`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new ParleyError('MALFORMED', 'the body must be UTF-8', { cause: error });
  }
}

function absent(language: string, name: TableClass): ParleyError {
  return new ParleyError('NOT_FOUND', `this key has no table ${name} of ${language}`, { field: 'class' });
}

function tableJson({ language, name, rows, bytes, changedAtMs, error }: StoredTable): object {
  const changedAt = new Date(changedAtMs).toISOString();
  const table = {
    object: 'text.table',
    language,
    class: name,
    rows: rows.length,
    bytes,
    changed_at: changedAt,
  };
  return error === undefined ? table : { ...table, error };
}

// The word tables on top of those of the package: the server's files, and above them the tables of the API
// key that a text belongs to.
import type { Log } from '../log.js';
import type { AccessConfig, ApiKey } from '../config/access-config.js';
import type { FileWatchOptions } from '../config/file-watch.js';
import { TableLayer, type TablesByLanguage } from '../text/tables/layer.js';
import type { Lexicon } from '../text/lexicon.js';
import { KeyTables } from './key-tables.js';
import { withLexicon } from './lexicon-file.js';
import { TableFiles } from './table-files.js';

/** The tables that apply to the texts of a client. */
export interface SpeakerTables {
  /** The same layer until a table changes; undefined if there is none. `client` is that of a text. */
  layerFor(client: string | undefined): TableLayer | undefined;
}

/** The keys of the server, as far as tables need them. */
export interface TableOwners {
  /** Name of the key that a call belongs to. */
  readonly ownerOf: (call: string) => string | undefined;
  readonly keyOf: (name: string) => ApiKey | undefined;
}

interface TablesConfig {
  /** Folder of the server's tables. */
  readonly tablesDir?: string | undefined;
  /** Folder of the tables of keys. */
  readonly keyTablesDir: string;
}

export interface TextTablesOptions {
  readonly texts: TablesConfig;
  readonly access: Pick<AccessConfig, 'apiKeys' | 'apiKeysFile'>;
  readonly owners: TableOwners;
  readonly log: Log;
  readonly watch?: FileWatchOptions;
}

interface Known {
  readonly files: TablesByLanguage;
  readonly own: TablesByLanguage | undefined;
  readonly layer: TableLayer | undefined;
}

export class TextTables implements SpeakerTables {
  readonly keys: KeyTables;
  readonly #identityOf: (client: string) => string | undefined;
  readonly #files: TableFiles | undefined;
  /** By the identity of a key; '' without one. */
  readonly #known = new Map<string, Known>();

  private constructor({ texts, access, owners, log }: TextTablesOptions, files: TableFiles | undefined) {
    this.keys = new KeyTables(texts.keyTablesDir, log);
    this.#identityOf = keyIdentity(access, owners);
    this.#files = files;
  }

  /** Rejects with CONFIG_INVALID if one of the server's files has a mistake. */
  static async open(options: TextTablesOptions): Promise<TextTables> {
    const { texts, log, watch } = options;
    const { tablesDir: folder } = texts;
    const files = folder === undefined ? undefined : await TableFiles.open({ folder, log, watch });
    return new TextTables(options, files);
  }

  /** The identity under which the tables of a client's key are stored; undefined without a valid key. */
  identityOf(client: string): string | undefined {
    return this.#identityOf(client);
  }

  close(): void {
    this.#files?.close();
  }

  layerFor(client: string | undefined): TableLayer | undefined {
    const key = client === undefined ? undefined : this.#identityOf(client);
    const files = this.#files?.tables ?? NONE;
    const own = key === undefined ? undefined : this.keys.tablesOf(key);
    const known = this.#known.get(key ?? '');
    if (known !== undefined && known.files === files && known.own === own) return known.layer;
    const levels = [files, own ?? NONE].filter((level) => level.size > 0);
    const layer = levels.length === 0 ? undefined : new TableLayer(...levels);
    this.#known.set(key ?? '', { files, own, layer });
    return layer;
  }
}

/** The tables of a folder as they are now. Rejects with CONFIG_INVALID, naming the file, line and column. */
export async function tablesOfFolder(folder: string): Promise<SpeakerTables> {
  const layer = new TableLayer(await TableFiles.read(folder));
  return { layerFor: () => layer };
}

const NONE: TablesByLanguage = new Map();

const EVERYONE = 'all'; // a server without keys has one set of tables

/**
 * Names the key of a client in the same way after a restart: by its configured name, or else by the key. A
 * client is the name of a key, an address, or a call.
 */
function keyIdentity(
  { apiKeys, apiKeysFile }: Pick<AccessConfig, 'apiKeys' | 'apiKeysFile'>,
  { ownerOf, keyOf }: TableOwners,
): (client: string) => string | undefined {
  if (apiKeys.length === 0 && apiKeysFile === undefined) return () => EVERYONE;
  return (client) => {
    const key = keyOf(ownerOf(client) ?? client);
    return key && (key.name === undefined ? `key ${key.key}` : `name ${key.name}`);
  };
}

interface TextsConfig extends TablesConfig {
  readonly lexiconFile?: string | undefined;
}

/** The settings of texts: the configured limits, with the lexicon and the tables. */
export type ServedTexts<T> = T & { readonly lexicon: Lexicon | undefined; readonly tables: TextTables };

interface OpenParts extends TableOwners {
  readonly log: Log;
  /** Closes what was opened, at the end. */
  readonly closing: { add(close: () => void): void };
}

/** Rejects with CONFIG_INVALID if the lexicon or a table of the server has a mistake. */
export async function openTexts<T extends TextsConfig>(
  { texts, access }: { readonly texts: T; readonly access: TextTablesOptions['access'] },
  { log, closing, ...owners }: OpenParts,
): Promise<ServedTexts<T>> {
  const withWords = withLexicon(texts);
  const tables = await TextTables.open({ texts, access, owners, log });
  closing.add(() => tables.close());
  return { ...withWords, tables };
}

// Reads a server's certificate with its private key, and certificate authorities, from PEM files. It
// validates them, and reads them again when the files change.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ParleyError } from '../errors.js';
import { FileWatch, type FileWatchOptions } from './file-watch.js';
import type { Log } from '../log.js';

export interface CertificateFiles {
  readonly certPath: string;
  readonly keyPath: string;
  /** Variables that name the files; TLS_CERT and TLS_KEY by default. */
  readonly variables?: { readonly cert: string; readonly key: string };
}

interface Certificate {
  /** PEM, followed by the chain. */
  readonly cert: string;
  readonly key: string;
  readonly validUntil: Date;
}

const HTTPS = { cert: 'TLS_CERT', key: 'TLS_KEY' };

/** Rejects with CONFIG_INVALID, naming the variable whose file is not usable. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const { certPath, keyPath, variables = HTTPS } = files;
  const [cert, key] = await Promise.all([
    readText(variables.cert, certPath),
    readText(variables.key, keyPath),
  ]);
  const leaf = attempt(
    variables.cert,
    certPath,
    'holds no certificate in PEM',
    () => new X509Certificate(cert),
  );
  const notKey = 'holds no private key in PEM, or one with a passphrase';
  const secret = attempt(variables.key, keyPath, notKey, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret)) throw refusal(variables.key, keyPath, `is not the key of ${certPath}`);
  attempt(variables.cert, certPath, 'cannot be used', () => createSecureContext({ cert, key }));
  return { cert, key, validUntil: new Date(leaf.validTo) };
}

/** Calls `use` with the certificate at first, and again whenever the files hold another usable one. */
export class CertificateRenewal {
  readonly #files: CertificateFiles;
  readonly #use: (certificate: Certificate) => void;
  readonly #log: Log;
  readonly #watch: FileWatch;

  constructor(
    files: CertificateFiles,
    use: (certificate: Certificate) => void,
    log: Log,
    watch: FileWatchOptions = {},
  ) {
    this.#files = files;
    this.#use = use;
    this.#log = log;
    this.#watch = new FileWatch([files.certPath, files.keyPath], () => void this.#readAgain(), watch);
  }

  /** Reads the files for the first time; CONFIG_INVALID when they are not usable. */
  async open(): Promise<void> {
    await this.#watch.open(); // first, so that no change is missed
    this.#take(await readCertificate(this.#files));
  }

  close(): void {
    this.#watch.close();
  }

  async #readAgain(): Promise<void> {
    try {
      const certificate = await readCertificate(this.#files);
      this.#take(certificate);
      this.#log.info({ validUntil: certificate.validUntil }, 'certificate read again');
    } catch (error) {
      // Two files are not replaced at once: the second change causes another read.
      this.#log.warn({ detail: (error as Error).message }, 'certificate stays as it was');
    }
  }

  #take(certificate: Certificate): void {
    const { validUntil } = certificate;
    this.#use(certificate);
    if (validUntil.getTime() < Date.now()) this.#log.warn({ validUntil }, 'the certificate has expired');
  }
}

interface AuthorityFile {
  readonly path: string;
  /** The variable that names it. */
  readonly variable: string;
}

/** Authorities in PEM. Rejects with CONFIG_INVALID, naming the variable whose file is not usable. */
export async function readAuthorities({ path, variable }: AuthorityFile): Promise<string> {
  const authorities = await readText(variable, path);
  attempt(variable, path, 'holds no certificate in PEM', () => new X509Certificate(authorities));
  attempt(variable, path, 'cannot be used', () => createSecureContext({ ca: authorities }));
  return authorities;
}

/** Calls `use` with the authorities at first, and again whenever the file holds other usable ones. */
export class AuthorityRenewal {
  readonly #file: AuthorityFile;
  readonly #use: (authorities: string) => void;
  readonly #log: Log;
  readonly #watch: FileWatch;

  constructor(file: AuthorityFile, use: (authorities: string) => void, log: Log) {
    this.#file = file;
    this.#use = use;
    this.#log = log;
    this.#watch = new FileWatch([file.path], () => void this.#readAgain());
  }

  /** Reads the file, which may have changed since the start; CONFIG_INVALID when it is not usable. */
  async open(): Promise<void> {
    await this.#watch.open(); // first, so that no change is missed
    this.#use(await readAuthorities(this.#file));
  }

  close(): void {
    this.#watch.close();
  }

  async #readAgain(): Promise<void> {
    try {
      this.#use(await readAuthorities(this.#file));
      this.#log.info({ variable: this.#file.variable }, 'authorities read again');
    } catch (error) {
      this.#log.warn({ detail: (error as Error).message }, 'authorities stay as they were');
    }
  }
}

async function readText(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw refusal(variable, path, `cannot be read: ${code ?? message}`, error);
  }
}

function attempt<T>(variable: string, path: string, what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw refusal(variable, path, what, error);
  }
}

function refusal(variable: string, path: string, what: string, cause?: unknown): ParleyError {
  const details = cause === undefined ? { field: variable } : { field: variable, cause };
  return new ParleyError('CONFIG_INVALID', `${variable} ${path} ${what}`, details);
}

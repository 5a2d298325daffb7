// The log as every room sees it. src/observe/log.ts writes it.

/** A message is a fixed phrase. What varies stands in the fields, whose names decide what is masked. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => undefined;

/** Writes nothing. */
export const SILENT_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

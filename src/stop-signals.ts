// How the process ends: SIGTERM lets calls end by themselves for a while, SIGINT
// hangs up, and whoever asks twice is served at once.
import type { Log } from './observe/log.js';

export interface Stoppable {
  /** Refuses new calls; resolves when those that stand have ended, or after so long. */
  drain(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

export function stopAtSignals(server: Stoppable, drainMs: number, log: Log): void {
  const stop = (signal: string): void => {
    log.info({ signal }, 'parley closes');
    for (const again of ['SIGINT', 'SIGTERM']) {
      process.removeAllListeners(again);
      process.once(again, () => process.exit(1));
    }
    const drained = signal === 'SIGTERM' ? server.drain(drainMs) : Promise.resolve();
    drained
      .then(() => server.close())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'parley did not close cleanly');
          process.exit(1);
        },
      );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

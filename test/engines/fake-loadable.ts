// Something to be loaded whose every step the test ends by hand, and which
// notes what may never happen.
import { ParleyError } from '../../src/errors.js';
import type { Loadable } from '../../src/engines/engine-lifecycle.js';

interface Step {
  readonly resolve: () => void;
  readonly reject: (error: ParleyError) => void;
}

export class FakeLoadable implements Loadable {
  loads = 0;
  unloads = 0;
  closed = false;
  /** It can speak: between the end of a load and the begin of an unload, or its loss. */
  ready = false;
  /** Contract violations by the owner. */
  readonly breaches: string[] = [];
  loading: Step | undefined;
  unloading: Step | undefined;
  warmUp?: () => Promise<void>;

  load(): Promise<void> {
    this.loads++;
    if (this.ready) this.breaches.push('loaded twice');
    if (this.loading !== undefined) this.breaches.push('two loads at once');
    if (this.unloading !== undefined) this.breaches.push('loaded while it is unloaded');
    if (this.closed) this.breaches.push('loaded after the close');
    return new Promise((resolve, reject) => (this.loading = { resolve, reject }));
  }

  unload(): Promise<void> {
    this.unloads++;
    if (this.loading !== undefined) this.breaches.push('unloaded while it is loaded');
    if (this.unloading !== undefined) this.breaches.push('two unloads at once');
    this.ready = false;
    return new Promise((resolve, reject) => (this.unloading = { resolve, reject }));
  }

  close(): Promise<void> {
    this.closed = true;
    this.ready = false;
    this.loadFails('closed');
    this.unloadEnds();
    return Promise.resolve();
  }

  loadEnds(): void {
    const { loading } = this;
    this.loading = undefined;
    if (loading !== undefined) this.ready = true;
    loading?.resolve();
  }

  loadFails(message: string): void {
    const { loading } = this;
    this.loading = undefined;
    loading?.reject(new ParleyError('ENGINE_FAILED', message));
  }

  unloadEnds(): void {
    const { unloading } = this;
    this.unloading = undefined;
    unloading?.resolve();
  }
}

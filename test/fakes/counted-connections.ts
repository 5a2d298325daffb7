// Notes what is counted of the connections to applications, in order.
import type { ConnectionCounters } from '../../src/api/relay/relay-talk.js';

export class CountedConnections implements ConnectionCounters {
  readonly noted: string[] = [];

  opened(kind: string): void {
    this.noted.push(`${kind} opened`);
  }

  reconnected(kind: string): void {
    this.noted.push(`${kind} reconnected`);
  }

  failed(kind: string, reason: string): void {
    this.noted.push(`${kind} failed: ${reason}`);
  }

  closed(kind: string): void {
    this.noted.push(`${kind} closed`);
  }
}

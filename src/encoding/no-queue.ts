// Behind a line whose payloads nobody sends: they are made to be kept.
import type { PayloadQueue } from './playout-sink.js';

export class NoQueue implements PayloadQueue {
  push(): 1 {
    return 1;
  }

  mark(): 1 {
    return 1;
  }

  rest(): 1 {
    return 1;
  }

  isDry(): boolean {
    return false;
  }

  onRoom(): void {}
  forget(): void {}
}

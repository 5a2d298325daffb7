// The sentences of one class that wait, and which of them is next.
//
//   between clients   whoever has been served least, counted in cost (start-time fair queueing)
//   equally served    the earliest deadline
//   within a client   the earliest deadline, then the order of arrival
//
// A client's count is never less than that of whoever was served last, so that
// having been silent saves nothing up. While two clients both wait, what one is
// served exceeds what the other is by at most the costs of two sentences.

export interface Place {
  readonly client: string;
  readonly deadlineMs: number;
  readonly begun: boolean;
  /** Above 0; in any unit, the same for all. */
  readonly cost: number;
}

interface Share<P> {
  /** What the client has been served, on the scale of `#served`. */
  served: number;
  readonly places: P[]; // in order of arrival
}

const MAX_CLIENTS = 1024; // remembered while they wait for nothing

export class FairQueue<P extends Place> {
  readonly #shares = new Map<string, Share<P>>();
  /** The count of the client that was served last, before it was. */
  #served = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waitingOf(client: string): number {
    return this.#shares.get(client)?.places.length ?? 0;
  }

  add(place: P): void {
    const share = this.#shares.get(place.client) ?? { served: this.#served, places: [] };
    if (share.places.length === 0) share.served = Math.max(share.served, this.#served);
    this.#shares.set(place.client, share);
    share.places.push(place);
    this.#size++;
  }

  /** False when it does not wait here (any more). */
  delete(place: P): boolean {
    const places = this.#shares.get(place.client)?.places ?? [];
    const index = places.indexOf(place);
    if (index < 0) return false;
    places.splice(index, 1);
    this.#size--;
    this.#forget();
    return true;
  }

  /** Removes and returns the next one. */
  take(): P | undefined {
    let next: { share: Share<P>; place: P } | undefined;
    for (const share of this.#shares.values()) {
      const place = soonest(share.places);
      if (place === undefined) continue;
      const before =
        next === undefined ||
        share.served < next.share.served ||
        (share.served === next.share.served && place.deadlineMs < next.place.deadlineMs);
      if (before) next = { share, place };
    }
    if (next === undefined) return undefined;
    this.#served = next.share.served;
    next.share.served += next.place.cost;
    this.delete(next.place);
    return next.place;
  }

  /**
   * Who gives way to `newcomer` when there is no room: somebody of the client with most places who has heard
   * nothing yet, and of those the one who can wait longest. A newcomer who has heard nothing either only passes
   * a client that holds more places than it would.
   */
  givesWay(newcomer: P): P | undefined {
    let most: { waiting: number; place: P } | undefined;
    for (const { places } of this.#shares.values()) {
      const place = latest(places.filter(({ begun }) => !begun));
      if (place === undefined || places.length <= (most?.waiting ?? 0)) continue;
      most = { waiting: places.length, place };
    }
    if (most === undefined || newcomer.begun) return most?.place;
    return most.waiting > this.waitingOf(newcomer.client) + 1 ? most.place : undefined;
  }

  #forget(): void {
    if (this.#size === 0) {
      this.#served = 0;
      this.#shares.clear();
      return;
    }
    for (const [client, share] of this.#shares) {
      if (share.places.length > 0) continue;
      if (share.served <= this.#served || this.#shares.size > MAX_CLIENTS) this.#shares.delete(client);
    }
  }
}

function soonest<P extends Place>(places: readonly P[]): P | undefined {
  let best: P | undefined;
  for (const place of places) if (best === undefined || place.deadlineMs < best.deadlineMs) best = place;
  return best;
}

function latest<P extends Place>(places: readonly P[]): P | undefined {
  let best: P | undefined;
  for (const place of places) if (best === undefined || place.deadlineMs >= best.deadlineMs) best = place;
  return best;
}

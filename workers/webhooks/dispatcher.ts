import type { HostOf } from "./hosts.ts";
import { createPlaces, type Place, type Places, type PlacesOptions } from "./places.ts";

/**
 * Who gets a turn when. Each subscription has one turn at a time; those that failed or were slow last time share places
 * of their own, so that the others never wait for them. In either lane hosts take turns, and none has all places.
 */

export type Lane = "prompt" | "laggard";

/** How a turn ended: where the next one belongs, and whether there is to be one at once. */
export type TurnEnd = { readonly lane: Lane; readonly again: boolean };

export type Dispatcher = {
  /** The subscription has something due. During its turn: look once more afterwards. */
  wake(webhookId: string): void;
  /** Its last attempt, of whichever writer, failed. */
  lags(webhookId: string): void;
  /** Subscriptions that wait for their turn or have it. */
  readonly size: number;
  /** No turn begins any more; resolves when those at work have ended. */
  stop(): Promise<void>;
};

/** Of the writer's places, one in so many is for laggards. */
const LAGGARDS_SHARE = 4;
/** Turns at once at one host and port, by lane. */
export const HOST_PLACES: Record<Lane, number> = { prompt: 128, laggard: 32 };
/** For each place so many turns may have stepped aside, because they take long: when many receivers hang at once. */
const ASIDE = 4;
/** Calls that turns can have under way to one host and port. */
export const HOST_CALLS = (HOST_PLACES.prompt + HOST_PLACES.laggard) * (1 + ASIDE);
/** Laggards that are remembered; the oldest is forgotten, and is one of the others until it lags again. */
const MAX_LAGGARDS = 50_000;

export type DispatcherOptions = {
  /** Turns at once. */
  concurrency: number;
  hostOf: HostOf;
  /** Makes a subscription's deliveries. Must not reject. */
  turn: (webhookId: string, lane: Lane, place: Place) => Promise<TurnEnd>;
  /** A subscription's host is not known now; it waits until it is woken again. */
  onError: (error: unknown) => void;
};

export function createDispatcher({ concurrency, hostOf, turn, onError }: DispatcherOptions): Dispatcher {
  const forLaggards = Math.max(1, Math.floor(concurrency / LAGGARDS_SHARE));
  const total: Record<Lane, number> = {
    prompt: Math.max(1, concurrency - forLaggards),
    laggard: forLaggards,
  };
  const placesOf = (lane: Lane): Places => {
    const options: PlacesOptions = { total: total[lane], ofKey: HOST_PLACES[lane], aside: ASIDE };
    return createPlaces(options);
  };
  const places: Record<Lane, Places> = { prompt: placesOf("prompt"), laggard: placesOf("laggard") };
  /** Those that wait or are at work, and whether they were woken during their turn. */
  const known = new Map<string, { atWork: boolean; again: boolean }>();
  const laggards = new Set<string>();
  let stopped = false;
  let ended = () => {};

  function setLane(webhookId: string, lane: Lane): void {
    laggards.delete(webhookId);
    if (lane === "prompt") return;
    laggards.add(webhookId);
    const [oldest] = laggards;
    if (oldest !== undefined && laggards.size > MAX_LAGGARDS) laggards.delete(oldest);
  }

  async function takeTurns(webhookId: string): Promise<void> {
    const state = { atWork: false, again: true };
    known.set(webhookId, state);
    while (state.again && !stopped) {
      state.atWork = false;
      // Before anything is taken: whoever waits holds nothing that others could use.
      const host = await hostOf(webhookId).catch(onError);
      if (host === undefined) break;
      const lane = laggards.has(webhookId) ? "laggard" : "prompt";
      const place = await places[lane].enter(host);
      if (!stopped) {
        state.atWork = true;
        state.again = false;
        const end = await turn(webhookId, lane, place);
        setLane(webhookId, end.lane);
        if (end.again) state.again = true;
      }
      place.leave();
    }
    known.delete(webhookId);
    if (known.size === 0) ended();
  }

  return {
    wake(webhookId) {
      const state = known.get(webhookId);
      if (state) state.again ||= state.atWork;
      else if (!stopped) void takeTurns(webhookId);
    },
    lags: (webhookId) => setLane(webhookId, "laggard"),
    get size() {
      return known.size;
    },
    async stop() {
      stopped = true;
      if (known.size > 0) await new Promise<void>((resolve) => (ended = resolve));
    },
  };
}

import { createPlaces, type Leave, type Places } from "./places.ts";

/**
 * Who gets a turn when. Each subscription has one turn at a time; those that failed or were slow last time share places
 * of their own, so that the others never wait for them.
 */

export const lanes = ["prompt", "laggard"] as const;
export type Lane = (typeof lanes)[number];

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

/**
 * @param concurrency turns at once.
 * @param turn makes a subscription's deliveries; `leave` gives the place in its lane up early. Must not reject.
 */
export function createDispatcher({
  concurrency,
  turn,
}: {
  concurrency: number;
  turn: (webhookId: string, lane: Lane, leave: Leave) => Promise<TurnEnd>;
}): Dispatcher {
  const forLaggards = Math.max(1, Math.floor(concurrency / LAGGARDS_SHARE));
  const places: Record<Lane, Places> = {
    prompt: createPlaces(Math.max(1, concurrency - forLaggards)),
    laggard: createPlaces(forLaggards),
  };
  /** Those that wait or are at work, and whether they were woken during their turn. */
  const known = new Map<string, { atWork: boolean; again: boolean }>();
  const laggards = new Set<string>();
  let stopped = false;
  let ended = () => {};

  async function takeTurns(webhookId: string): Promise<void> {
    const state = { atWork: false, again: true };
    known.set(webhookId, state);
    while (state.again && !stopped) {
      const lane = laggards.has(webhookId) ? "laggard" : "prompt";
      state.atWork = false;
      const leave = await places[lane].enter();
      if (!stopped) {
        state.atWork = true;
        state.again = false;
        const end = await turn(webhookId, lane, leave);
        if (end.lane === "laggard") laggards.add(webhookId);
        else laggards.delete(webhookId);
        if (end.again) state.again = true;
      }
      leave();
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
    lags: (webhookId) => void laggards.add(webhookId),
    get size() {
      return known.size;
    },
    async stop() {
      stopped = true;
      if (known.size > 0) await new Promise<void>((resolve) => (ended = resolve));
    },
  };
}

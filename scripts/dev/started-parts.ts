/** Thrown by a start-up step when the stack is stopping. */
export class Stopping extends Error {
  override name = "Stopping";
}

/** Services stop before the servers that they use. */
export type Stage = "service" | "server";

/** The processes and timers that a dev stack has started. All of them end with the stack, even those still starting. */
export class StartedParts {
  readonly #stops: { stage: Stage; stop: () => Promise<unknown> }[] = [];
  readonly #starting = new Set<Promise<unknown>>();
  #stopped: Promise<void> | undefined;

  get stopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** Starts a part. @throws {Stopping} when the stack has begun to stop. */
  async start<T extends { stop: () => Promise<unknown> }>(stage: Stage, start: () => Promise<T>): Promise<T> {
    if (this.stopping) throw new Stopping();
    const starting = start().then((part) => {
      this.#stops.push({ stage, stop: () => part.stop() });
      return part;
    });
    this.#starting.add(starting);
    try {
      const part = await starting;
      if (this.stopping) throw new Stopping();
      return part;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Stops all services at once, then all servers at once. A second call waits for the first. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    await Promise.allSettled(this.#starting);
    for (const stage of ["service", "server"] as const) {
      await Promise.allSettled(this.#stops.filter((part) => part.stage === stage).map((part) => part.stop()));
    }
  }
}

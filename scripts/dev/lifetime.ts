/** Thrown by a step that was under way when the stack was told to stop. */
export class Stopping extends Error {
  override name = "Stopping";
}

/** Services stop before the servers that they use. */
export type Stage = "service" | "server";

/** What a dev stack has started, so that it ends with the stack, even what was still starting when it was told to stop. */
export class Lifetime {
  readonly #ends: { stage: Stage; stop: () => Promise<unknown> }[] = [];
  readonly #starting = new Set<Promise<unknown>>();
  #stopped: Promise<void> | undefined;

  get stopping(): boolean {
    return this.#stopped !== undefined;
  }

  /** Starts something that has a `stop`. @throws {Stopping} when the stack was told to stop meanwhile. */
  async own<T extends { stop: () => Promise<unknown> }>(stage: Stage, start: () => Promise<T>): Promise<T> {
    if (this.stopping) throw new Stopping();
    const starting = start().then((thing) => {
      this.#ends.push({ stage, stop: () => thing.stop() });
      return thing;
    });
    this.#starting.add(starting);
    try {
      const thing = await starting;
      if (this.stopping) throw new Stopping();
      return thing;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Stops everything: services first, then servers, each stage side by side. Asked twice, it happens once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    await Promise.allSettled(this.#starting);
    for (const stage of ["service", "server"] as const) {
      await Promise.allSettled(this.#ends.filter((end) => end.stage === stage).map((end) => end.stop()));
    }
  }
}

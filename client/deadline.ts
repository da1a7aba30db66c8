/** Ends one attempt of a call. `AbortSignal.any` would leave a trace of each call at a signal that lives on. */
export type Deadline = {
  /** Aborted after the time, or together with the caller's signal. */
  readonly signal: AbortSignal;
  readonly isPast: () => boolean;
  /** Stops the clock, and forgets the caller's signal. */
  readonly clear: () => void;
};

/** Starts the clock of an attempt, which may take `ms`. */
export function startDeadline(ms: number, stop?: AbortSignal): Deadline {
  const controller = new AbortController();
  let past = false;
  const timer = setTimeout(() => {
    past = true;
    controller.abort();
  }, ms);
  const follow = () => controller.abort(stop?.reason);
  stop?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    isPast: () => past,
    clear() {
      clearTimeout(timer);
      stop?.removeEventListener("abort", follow);
    },
  };
}

import { nextPause } from "./back-off.ts";

/**
 * Calls `act` at once, and again `everyMs` after each answer. It rests while the page is hidden, goes on at once when it is seen
 * again, and waits longer while `act` fails.
 * @param act whether it succeeded; it never throws
 * @returns a function that ends it
 */
export function repeat(act: () => Promise<boolean>, everyMs: number): () => void {
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let acting = false;
  let ended = false;
  async function next(): Promise<void> {
    if (acting || ended || document.hidden) return;
    acting = true;
    clearTimeout(timer);
    const succeeded = await act();
    acting = false;
    if (ended) return;
    failures = succeeded ? 0 : failures + 1;
    timer = setTimeout(next, succeeded ? everyMs : nextPause(failures));
  }
  const goOn = () => void next();
  document.addEventListener("visibilitychange", goOn);
  addEventListener("online", goOn);
  goOn();
  return () => {
    ended = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", goOn);
    removeEventListener("online", goOn);
  };
}

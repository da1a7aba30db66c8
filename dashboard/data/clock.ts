/** The time, once a second while the page is seen. */
import { computed, signal } from "@preact/signals";
import { position } from "./heartbeat.ts";

const nowMs = signal(Date.now());

/** The wall clock, in ms. */
export const wallClock = computed(() => nowMs.value);

/** The chain's time, Unix seconds: that of its newest block, and what has passed since. Undefined before the first block. */
export const chainTime = computed(() => {
  const known = position.value;
  if (!known) return undefined;
  return known.headTime + Math.max(0, Math.floor((nowMs.value - known.readAt) / 1000));
});

/** Lets the clock run. @returns a function that stops it */
export function startClock(): () => void {
  const timer = setInterval(() => {
    if (!document.hidden) nowMs.value = Date.now();
  }, 1000);
  return () => clearInterval(timer);
}

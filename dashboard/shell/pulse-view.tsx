import { wallClock } from "../data/clock.ts";
import { type Position, type Pulse, position, pulse } from "../data/heartbeat.ts";
import { duration, localClock } from "../format/time.ts";

const blocks = new Intl.NumberFormat("en");

/** Age of the indexed block now, seconds. */
const ageOf = ({ ageSeconds = 0, readAt }: Position) =>
  ageSeconds + Math.max(0, Math.floor((wallClock.value - readAt) / 1000));

const words: Readonly<Record<Pulse["state"], string>> = {
  connecting: "Connecting",
  synced: "Block",
  lagging: "Behind, block",
  syncing: "Reading history, block",
  index_away: "No index, block",
  api_away: "No answer, block",
};

/** The dot that shows that the page lives: the newest indexed block, and its age. */
export function BlockDot() {
  const { state } = pulse.value;
  const known = position.value;
  return (
    <p class={`block-dot ${state}`} title={known ? `The chain is at block ${known.head}` : undefined}>
      <span class="dot" aria-hidden="true" />
      <span class="said">{words[state]}</span>
      {known && (
        <>
          <b>{blocks.format(known.block)}</b> <span class="age">{duration(ageOf(known))}</span>
        </>
      )}
    </p>
  );
}

const lagged = ({ block, head, condition }: Position): string => {
  const shown = `figures are of block ${blocks.format(block)}`;
  if (condition === "down") return `No indexer runs: ${shown}, and stay there until it is started again.`;
  if (condition === "catching_up") return `The indexer has started anew and catches up: ${shown}.`;
  return `The index is ${blocks.format(head - block)} blocks behind the chain: ${shown}.`;
};

const lastKnown = (): string => {
  const known = position.value;
  return known ? ` What you see is of block ${blocks.format(known.block)}.` : "";
};

/** What is wrong with all figures at once; undefined when nothing is. */
function faultOf(now: Pulse): string | undefined {
  if (now.state === "lagging") return lagged(now.position);
  if (now.state === "syncing") {
    const { block, head } = now.position;
    return `The index reads the chain's history: block ${blocks.format(block)} of ${blocks.format(head)}. Figures appear by themselves.`;
  }
  if (now.state === "api_away")
    return `The API does not answer since ${localClock(now.since / 1000)}; the page tries again by itself.${lastKnown()}`;
  if (now.state === "index_away")
    return `The index is away since ${localClock(now.since / 1000)}: ${now.reason}${lastKnown()}`;
  return undefined;
}

/** A line above the page while something is wrong with all of it. It is there before, so that screen readers hear it. */
export function PulseBanner() {
  const fault = faultOf(pulse.value);
  return (
    <div role="status" class="banner-place">
      {fault !== undefined && <p class={`banner ${pulse.value.state}`}>{fault}</p>}
    </div>
  );
}

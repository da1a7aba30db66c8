import { chainTime } from "../data/clock.ts";
import { dateOf, duration, localDay, localMoment, utcMoment } from "../format/time.ts";

type Seconds = { readonly at: number | string };
const isoOf = (at: number | string) => dateOf(at).toISOString();

/** A moment in local time; the title has UTC. `day` leaves the hour out. */
export const Moment = ({ at, day = false }: Seconds & { day?: boolean }) => (
  <time dateTime={isoOf(at)} title={utcMoment(at)}>
    {day ? localDay(at) : localMoment(at)}
  </time>
);

/** How long ago something was, by the chain's time: it grows by itself. */
export function Ago({ at }: Seconds) {
  const now = chainTime.value;
  return (
    <time dateTime={isoOf(at)} title={`${localMoment(at)} · ${utcMoment(at)}`}>
      {now === undefined ? localMoment(at) : `${duration(Math.max(0, now - Number(at)))} ago`}
    </time>
  );
}

/** The time that is left by the chain's clock, and what is said once it is over. */
export function Countdown({ at, over = "over" }: Seconds & { over?: string }) {
  const now = chainTime.value;
  const left = now === undefined ? undefined : Number(at) - now;
  return (
    <time class="countdown" dateTime={isoOf(at)} title={`${localMoment(at)} · ${utcMoment(at)}`}>
      {left === undefined ? localMoment(at) : left > 0 ? duration(left) : over}
    </time>
  );
}

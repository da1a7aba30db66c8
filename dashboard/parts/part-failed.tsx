import { useEffect, useRef } from "preact/hooks";
import { pulse } from "../data/heartbeat.ts";

/**
 * Says that a part of the page's script could not be loaded, and offers to try again. It tries by itself when the API, which
 * has the file, was away and is back.
 * @param what begins the sentence: `This page`
 */
export function PartFailed({ what, retry }: { what: string; retry: () => Promise<boolean> }) {
  const away = pulse.value.state === "api_away";
  const wasAway = useRef(away);
  useEffect(() => {
    if (wasAway.current && !away) void retry();
    wasAway.current = away;
  }, [away, retry]);
  async function again(): Promise<void> {
    // Some browsers remember the failure, and a newer version has files of other names: the whole page is read again.
    if (!(await retry()) && pulse.peek().state !== "api_away") location.reload();
  }
  return (
    <>
      {what} could not be loaded: the connection broke off, or the service has a newer version.{" "}
      <button type="button" class="plain" onClick={again}>
        Try again
      </button>
    </>
  );
}

/** Reads with the admin token. They go on while the index is away, and nothing of them stays when the page is left. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Client } from "../../../client/index.ts";
import { afterFailure, type Read } from "../../data/reads.ts";
import { repeat } from "../../data/repeat.ts";
import { close, isShut, refusalOf, session } from "./session.ts";

/** Between two reads, in ms: the operator sees trouble soon, and the ledger's sums cost little. */
const EVERY_MS = 10_000;

/** How often everything was asked for at once. */
const rounds = signal(0);

/** Reads all that is shown at once: after a write. */
export function readAgain(): void {
  rounds.value += 1;
}

const loading = { state: "loading" } as const;

/**
 * Reads for as long as the component is shown: `useAdmin("stops", (admin) => admin.get("/api/v1/admin/stops"))`. A refused token
 * ends the session.
 * @param name tells reads apart: another name shows nothing of the one before. Undefined: nothing is read
 */
export function useAdmin<Body>(name: string | undefined, ask: (admin: Client) => Promise<Body>): Read<Body> {
  const [known, setKnown] = useState<{ readonly name: string; readonly read: Read<Body> }>();
  const now = session.value;
  const admin = now.state === "open" ? now.admin : undefined;
  const round = rounds.value;
  useEffect(() => {
    if (!admin || name === undefined) return;
    let left = false;
    async function read(from: Client, as: string): Promise<boolean> {
      try {
        const body = await ask(from);
        if (!left) setKnown({ name: as, read: { state: "ready", body, readAt: Date.now() } });
        return true;
      } catch (error) {
        if (left) return false;
        if (isShut(error)) close(refusalOf(error));
        else
          setKnown((before) => ({
            name: as,
            read: afterFailure(before?.name === as ? before.read : loading, error),
          }));
        return false;
      }
    }
    const end = repeat(() => read(admin, name), EVERY_MS);
    return () => {
      left = true;
      end();
    };
    // `name` says everything that `ask` does.
  }, [name, admin, round]);
  return known && known.name === name ? known.read : loading;
}

/** The body of a read that has one. */
export const bodyOf = <Body>(read: Read<Body>): Body | undefined =>
  read.state === "ready" || read.state === "stale" ? read.body : undefined;

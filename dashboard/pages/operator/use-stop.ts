import { useState } from "preact/hooks";
import { ApiError, ConnectionError, type Schema } from "../../../client/index.ts";
import { reasonOf } from "../../parts/shown.tsx";
import type { AskedStop } from "./confirm-stop.tsx";
import { close, isShut, refusalOf, session } from "./session.ts";
import { clearDraft } from "./stop-draft.tsx";
import { type StopTarget, targetName } from "./stop-target.ts";
import { readAgain } from "./use-admin.ts";

type SetStop = Schema<"SetStop">;

/** What an answer means: a stop that was in force before keeps its reason. */
function outcomeOf(target: StopTarget, { alreadyStopped, reason, warning }: SetStop): string {
  const name = targetName(target);
  const said = alreadyStopped
    ? `Nothing has changed: ${name} was stopped already, because: ${reason}`
    : `Stopped: ${name}.`;
  return warning === null ? said : `${said} ${warning}`;
}

function failureOf(error: unknown): string {
  if (error instanceof ConnectionError)
    return "No answer came, so it may be stopped or not: the list of stops says which. Trying again is safe, a second stop changes nothing.";
  if (error instanceof ApiError && error.details.length > 0)
    return error.details.map(({ path, message }) => `${path} ${message}`).join("; ");
  return reasonOf(error);
}

/** Asks for a stop, once it is confirmed. */
export function useStop() {
  const [asked, setAsked] = useState<AskedStop>();
  const [said, setSaid] = useState<string>();

  async function confirm(): Promise<void> {
    const now = session.value;
    if (!asked || asked.sending || now.state !== "open") return;
    const { target, reason } = asked;
    setAsked({ target, reason, sending: true, why: undefined });
    try {
      const answer = await now.admin.post("/api/v1/admin/stops", { body: { ...target, reason } });
      setSaid(outcomeOf(target, answer));
      setAsked(undefined);
      clearDraft();
    } catch (error) {
      if (isShut(error)) return close(refusalOf(error));
      const why = failureOf(error);
      setSaid(why);
      // Where the dialog was left meanwhile, it stays away.
      setAsked((still) => still && { target, reason, sending: false, why });
    }
    readAgain();
  }

  return {
    /** The stop that waits for the operator's word; undefined when there is none. */
    asked,
    /** What became of the last one. */
    said,
    ask(target: StopTarget, reason: string) {
      setSaid(undefined);
      setAsked({ target, reason, sending: false, why: undefined });
    },
    confirm,
    /** The browser tells late that a dialog is closed: a question that was asked meanwhile stays. */
    leave: ({ target }: AskedStop) => setAsked((still) => (still?.target === target ? undefined : still)),
  };
}

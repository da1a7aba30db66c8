/** The stop that is being written down. A click on a row's button fills it in. */
import { signal } from "@preact/signals";
import type { StopDraft, StopTarget } from "./stop-target.ts";

const empty: StopDraft = { scope: undefined, wallet: "", keyId: "", reason: "" };

export const draft = signal<StopDraft>(empty);

export const clearDraft = (): void => {
  draft.value = empty;
};

/** Where the operator says why. */
export const REASON_ID = "stop-reason";

function propose(target: StopTarget): void {
  draft.value = {
    ...draft.value,
    scope: target.scope,
    wallet: target.scope === "wallet" ? target.wallet : "",
    keyId: target.scope === "key" ? String(target.keyId) : "",
  };
  document.getElementById(REASON_ID)?.focus();
}

/** Fills in the form for a row; nothing is stopped before the form is sent and confirmed. */
export const StopButton = ({ target, what }: { target: StopTarget; what: string }) => (
  <button type="button" class="plain" aria-label={`Stop ${what} …`} onClick={() => propose(target)}>
    Stop …
  </button>
);

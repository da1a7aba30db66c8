import { useEffect, useRef } from "preact/hooks";
import { type StopTarget, targetName } from "./stop-target.ts";

/** A stop that the operator is asked to confirm. `why` says why the last try has failed. */
export type AskedStop = {
  readonly target: StopTarget;
  readonly reason: string;
  readonly sending: boolean;
  readonly why: string | undefined;
};

/**
 * Says in plain words what a stop does, and asks whether to. Escape and the first button leave everything as it is.
 * @param onClosed called when the dialog has gone, for whatever reason
 */
export function ConfirmStop({
  asked: { target, reason, sending, why },
  consequences,
  onConfirmed,
  onClosed,
}: {
  asked: AskedStop;
  consequences: readonly string[];
  onConfirmed: () => void;
  onClosed: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    // The focus goes back to where it was.
    return () => opened?.close();
  }, []);
  const name = targetName(target);
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="confirm-title" onClose={onClosed}>
      <h2 id="confirm-title">Stop {name}?</h2>
      <ul>
        {consequences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {target.scope === "wallet" && <p class="whole-address">{target.wallet}</p>}
      <p>
        Reason: <b>{reason}</b>
      </p>
      <p>
        Nothing on this page lifts it, and no call of the API: resuming takes <code>npm run ledger</code> on
        the server, with the command that then stands beside the stop.
      </p>
      <p class="refusal" role="alert">
        {why}
      </p>
      <p class="fields">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Leave it running
        </button>
        <button type="button" class="button danger" aria-disabled={sending} onClick={onConfirmed}>
          {sending ? "Stopping …" : `Stop ${name}`}
        </button>
      </p>
    </dialog>
  );
}

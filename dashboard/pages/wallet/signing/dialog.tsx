/** The dialog of the action under way: what happens, what is asked, and how it ended. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useRead } from "../../../data/use-read.ts";
import { Hash } from "../../../parts/address.tsx";
import { Amount } from "../../../parts/amount.tsx";
import type { Action } from "./actions.ts";
import { ActionForm } from "./form.tsx";
import type { Phase, Result } from "./phases.ts";
import { change, close, confirm, isShown, type Run, resolveDoubt, retry, run, submit } from "./run.ts";
import { Steps } from "./steps.tsx";

/** The chain's name and explorer, as far as they are known. */
function useChain(chainId: number | undefined): { name: string; explorer: string | null } {
  const health = useRead("/health");
  const known = health.state === "ready" || health.state === "stale" ? health.body.chain : undefined;
  const isIt = known && (chainId === undefined || chainId === known.chainId);
  return { name: isIt ? known.name : `chain ${chainId}`, explorer: known?.explorerUrl ?? null };
}

const Button = ({ onClick, children }: { onClick: () => void; children: ComponentChildren }) => (
  <button type="button" class="button primary" onClick={onClick}>
    {children}
  </button>
);

/** Tries the same again, or lets the owner write something else. */
const Retry = ({ action, children }: { action: Action; children: ComponentChildren }) => (
  <p class="buttons">
    <Button onClick={retry}>{children}</Button>
    {action.fields.length > 0 && (
      <button type="button" class="button" onClick={change}>
        Change
      </button>
    )}
  </p>
);

const ResultLine = ({ result, explorer }: { result: Result; explorer: string | null }) =>
  result.kind === "bought" ? (
    <li>
      Bought policy {result.receipt.policyId}: <Amount value={result.receipt.coverageAmount} unit="usdc" /> of
      cover for a premium of <Amount value={result.receipt.premiumPaid} unit="usdc" />.{" "}
      <Hash of={result.receipt.txHash} explorer={explorer} />
    </li>
  ) : (
    <li>
      {result.description} <Hash of={result.txHash} explorer={explorer} />
      {result.unreported && " The service has not recorded it as your report, which changes nothing."}
    </li>
  );

/** Asks which key the new one replaces; nothing is signed before. */
function ReplaceKey({ reason, choose }: { reason: string; choose: (keyId: number) => void }) {
  const [text, setText] = useState("");
  const [fault, setFault] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    if (!/^\s*[1-9]\d{0,14}\s*$/.test(text)) {
      setFault("Write the id of one of these keys.");
      return;
    }
    choose(Number(text));
    confirm();
  };
  return (
    <form onSubmit={submit} noValidate>
      <p>
        {reason} A page that was closed at once may have left one, labelled “dashboard”. The new key takes its
        place; whatever still uses the old one is refused from then on.
      </p>
      <div class="field">
        <label for="field-key">Key to replace</label>
        <input
          id="field-key"
          inputMode="numeric"
          autocomplete="off"
          aria-describedby="hint-key"
          aria-invalid={fault !== undefined}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <p id="hint-key" class={fault === undefined ? "note" : "field-fault"}>
          {fault ?? "The number before the label."}
        </p>
      </div>
      <p class="buttons">
        <button type="submit" class="button primary">
          Replace this key
        </button>
      </p>
    </form>
  );
}

/** What is said, and what is asked. */
function PhaseView({ action, texts, phase }: Run) {
  const chain = useChain(phase.name === "wrong_chain" ? phase.chainId : undefined);
  switch (phase.name) {
    case "form":
      return <ActionForm fields={action.fields} initial={texts} onSubmit={submit} />;
    case "preparing":
      return <p>Asking the chain what this takes …</p>;
    case "blocked":
      return (
        <>
          <p class="summary">{phase.summary}</p>
          <p>This cannot be done now. {phase.reason}</p>
          <Retry action={action}>Check again</Retry>
        </>
      );
    case "wrong_chain":
      return (
        <>
          <p>Your wallet is on another chain. This happens on {chain.name}; nothing is signed before.</p>
          {phase.fault !== undefined && <p class="field-fault">{phase.fault}</p>}
          <Button onClick={confirm}>Switch to {chain.name}</Button>
        </>
      );
    case "sign_in":
      return (
        <>
          <p>
            The service buys for you, so it has to know that this wallet is yours. Sign a message: it costs
            nothing and moves nothing. The key that you get stays in the memory of this page and is revoked
            when you leave it.
          </p>
          <details>
            <summary>The message</summary>
            <pre class="message">{phase.message}</pre>
          </details>
          <Button onClick={confirm}>Sign the message</Button>
        </>
      );
    case "replace_key":
      return <ReplaceKey {...phase} />;
    case "review": {
      const step = phase.prepared.steps[phase.position];
      const isSigned = step?.kind !== "signature" || step.status === "incomplete";
      return (
        <>
          <Steps prepared={phase.prepared} position={phase.position} />
          <Button onClick={confirm}>{isSigned ? "Sign in the wallet" : "Buy now"}</Button>
        </>
      );
    }
    case "asking":
      return <p>Your wallet asks you {phase.what}. Answer there.</p>;
    case "pending":
      return (
        <>
          <Steps prepared={phase.prepared} position={phase.position} />
          <p>
            Sent, waiting for its block: <Hash of={phase.txHash} explorer={chain.explorer} /> You may close
            this; it goes on.
          </p>
        </>
      );
    case "buying":
      return (
        <p>Signed. The service sends the purchase and waits for its block. You may close this; it goes on.</p>
      );
    case "in_doubt":
      return (
        <>
          <p>
            The service has not said whether it has bought: {phase.reason} Ask again; it is bought once at
            most.
          </p>
          <Button onClick={resolveDoubt}>Ask again</Button>
        </>
      );
    case "done":
      return (
        <>
          <p>Done.</p>
          <ul class="results">
            {phase.results.map((result) => (
              <ResultLine
                key={result.kind === "bought" ? result.receipt.txHash : result.txHash}
                result={result}
                explorer={chain.explorer}
              />
            ))}
          </ul>
        </>
      );
    case "stopped":
      return (
        <>
          <p>
            <strong>{phase.title}.</strong> {phase.reason}
          </p>
          {phase.txHash !== undefined && (
            <p>
              <Hash of={phase.txHash} explorer={chain.explorer} />
            </p>
          )}
          <Retry action={action}>Try again</Retry>
        </>
      );
  }
}

/** Tells two questions apart: the focus goes to the heading with each. */
const nameOf = (phase: Phase): string =>
  phase.name === "review" || phase.name === "pending" ? `${phase.name} ${phase.position}` : phase.name;

function Body({ run: shown }: { run: Run }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = nameOf(shown.phase);
  useEffect(() => heading.current?.focus(), [name]);
  return (
    <>
      <h2 id="action-title" tabIndex={-1} ref={heading}>
        {shown.action.title}
      </h2>
      {/* New elements for each phase: a button never becomes another one under a finger. */}
      <div key={name} class="phase" role="status">
        <PhaseView {...shown} />
      </div>
      <p class="buttons">
        <button key={name} type="button" class="button" onClick={close}>
          Close
        </button>
      </p>
    </>
  );
}

/** Shows the action under way above the page, as long as its owner wants to see it. */
export function ActionDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = isShown.value ? run.value : undefined;
  const isVisible = shown !== undefined;
  useEffect(() => {
    if (isVisible) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isVisible]);
  // The event comes late: the dialog may be open again.
  const closed = () => {
    if (!dialog.current?.open) close();
  };
  return (
    <dialog ref={dialog} class="action" aria-labelledby="action-title" onClose={closed}>
      {shown && <Body run={shown} />}
    </dialog>
  );
}

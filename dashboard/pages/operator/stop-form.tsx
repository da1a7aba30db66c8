import { useState } from "preact/hooks";
import { draft, REASON_ID } from "./stop-draft.tsx";
import { checkDraft, type DraftField, MAX_REASON, type StopScope, type StopTarget } from "./stop-target.ts";

const scopes: readonly { readonly scope: StopScope; readonly label: string }[] = [
  { scope: "global", label: "Everything" },
  { scope: "keeper", label: "The keeper" },
  { scope: "wallet", label: "One wallet" },
  { scope: "key", label: "One key" },
];

const change = (field: Partial<typeof draft.value>) => {
  draft.value = { ...draft.value, ...field };
};

type Fault = { readonly field: DraftField; readonly rule: string };

/** A text field of the form, with its fault. */
const TextField = ({
  id,
  label,
  value,
  onText,
  fault,
  maxLength,
  onEnter,
}: {
  id: string;
  label: string;
  value: string;
  onText: (text: string) => void;
  fault: boolean;
  maxLength?: number;
  onEnter: () => void;
}) => (
  <p class="fields">
    <label for={id}>{label}</label>
    <input
      id={id}
      autocomplete="off"
      spellcheck={false}
      maxLength={maxLength}
      value={value}
      aria-invalid={fault}
      aria-describedby="stop-fault"
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onKeyDown={({ key }) => {
        if (key === "Enter") onEnter();
      }}
    />
  </p>
);

/**
 * Asks what to stop and why. It is no form of the browser's, because the policy of the page forbids those that are sent.
 * @param onAsked called with a valid target: the operator has yet to confirm it
 */
export function StopForm({ onAsked }: { onAsked: (target: StopTarget, reason: string) => void }) {
  const [fault, setFault] = useState<Fault>();
  const { scope, wallet, keyId, reason } = draft.value;
  const ask = () => {
    const checked = checkDraft(draft.value);
    setFault(checked.ok ? undefined : checked);
    if (checked.ok) onAsked(checked.target, checked.reason);
  };
  const field = (name: DraftField) => ({ fault: fault?.field === name, onEnter: ask });
  return (
    <div class="stop-form">
      <h3 id="stop-form">Stop spending</h3>
      <div class="scopes" role="radiogroup" aria-labelledby="stop-form" aria-describedby="stop-fault">
        {scopes.map((one) => (
          <label key={one.scope}>
            <input
              type="radio"
              name="stop-scope"
              value={one.scope}
              checked={scope === one.scope}
              onChange={() => change({ scope: one.scope })}
            />{" "}
            {one.label}
          </label>
        ))}
      </div>
      {scope === "wallet" && (
        <TextField
          {...field("wallet")}
          id="stop-wallet"
          label="Wallet, of the service or of a client"
          value={wallet}
          onText={(text) => change({ wallet: text })}
        />
      )}
      {scope === "key" && (
        <TextField
          {...field("keyId")}
          id="stop-key"
          label="Number of the key"
          value={keyId}
          onText={(text) => change({ keyId: text })}
        />
      )}
      <TextField
        {...field("reason")}
        id={REASON_ID}
        label="Why, for the next operator"
        value={reason}
        maxLength={MAX_REASON}
        onText={(text) => change({ reason: text })}
      />
      <button type="button" class="button" onClick={ask}>
        Stop …
      </button>
      <p id="stop-fault" class="refusal" role="alert">
        {fault?.rule}
      </p>
    </div>
  );
}

import { useState } from "preact/hooks";
import { units } from "../../../format/amount.ts";
import { parseAmount } from "../../../format/parse-amount.ts";
import type { Field, Values } from "./actions.ts";

type Faults = Readonly<Record<string, string>>;

/** The fields' values as integers, and the rules that they break, by name. */
function readFields(fields: readonly Field[], texts: Values): { values: Values; faults: Faults } {
  const values: Record<string, string> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? field.initial;
    if (field.kind === "choice") values[field.name] = text;
    else {
      const parsed = parseAmount(text, field.unit);
      if (parsed.ok) values[field.name] = String(parsed.value);
      else faults[field.name] = parsed.rule;
    }
  }
  return { values, faults };
}

type InputProps = {
  readonly field: Field;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onText: (text: string) => void;
};

function Input({ field, text, fault, onText }: InputProps) {
  const [id, hintId] = [`field-${field.name}`, `hint-${field.name}`];
  return (
    <div class="field">
      <label for={id}>
        {field.label}
        {field.kind === "amount" && <span class="unit"> {units[field.unit].symbol}</span>}
      </label>
      {field.kind === "choice" ? (
        <select
          id={id}
          aria-describedby={hintId}
          value={text}
          onChange={({ currentTarget }) => onText(currentTarget.value)}
        >
          {field.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          inputMode="decimal"
          autocomplete="off"
          aria-describedby={hintId}
          aria-invalid={fault !== undefined}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      )}
      <p id={hintId} class={fault === undefined ? "note" : "field-fault"}>
        {fault ?? field.hint}
      </p>
    </div>
  );
}

/** Asks for an action's fields, and names the rule that a value breaks. Nothing is sent by the form itself. */
export function ActionForm({
  fields,
  initial,
  onSubmit,
}: {
  fields: readonly Field[];
  initial: Values;
  onSubmit: (values: Values, texts: Values) => void;
}) {
  const [texts, setTexts] = useState<Values>(initial);
  const [faults, setFaults] = useState<Faults>({});
  const submit = (event: Event) => {
    event.preventDefault();
    const read = readFields(fields, texts);
    setFaults(read.faults);
    const [first] = Object.keys(read.faults);
    if (first === undefined) onSubmit(read.values, texts);
    else document.getElementById(`field-${first}`)?.focus();
  };
  return (
    <form onSubmit={submit} noValidate>
      {fields.map((field) => (
        <Input
          key={field.name}
          field={field}
          text={texts[field.name] ?? field.initial}
          fault={faults[field.name]}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      <p class="buttons">
        <button type="submit" class="button primary">
          Continue
        </button>
      </p>
    </form>
  );
}

import type { ComponentChildren } from "preact";
import { type Unit, units } from "../format/amount.ts";

/** A row of figures. */
export const Figures = ({ children }: { children: ComponentChildren }) => <dl class="figures">{children}</dl>;

/** One figure: what it is and in what unit, its value, and what it has to be compared with. */
export const Figure = ({
  label,
  unit,
  note,
  children,
}: {
  label: string;
  unit?: Unit;
  note?: ComponentChildren;
  children: ComponentChildren;
}) => (
  <div class="figure">
    <dt>
      {label}
      {unit !== undefined && <span class="unit"> {units[unit].symbol}</span>}
    </dt>
    <dd class="value">{children}</dd>
    {note !== undefined && <dd class="note">{note}</dd>}
  </div>
);

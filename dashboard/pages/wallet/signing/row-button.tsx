import type { ComponentChildren } from "preact";
import type { Column } from "../../../parts/table.tsx";
import type { Action } from "./actions.ts";
import { isOwn } from "./connection.ts";
import { begin } from "./run.ts";

/** Begins an action from a row of a table; its name says which row. */
export const RowButton = ({ label, begins }: { label: string; begins: Action }) => (
  <button
    type="button"
    class="button small"
    aria-label={`${label}: ${begins.title}`}
    onClick={() => begin(begins)}
  >
    {label}
  </button>
);

/** A table's column of actions, where the table is of the account that signs. */
export const ownColumn = <Row,>(address: string, cell: (row: Row) => ComponentChildren): Column<Row>[] =>
  isOwn(address) ? [{ head: "Action", cell }] : [];

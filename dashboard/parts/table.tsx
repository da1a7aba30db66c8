import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { amountParts, type Integer, type Unit, units } from "../format/amount.ts";
import { Amount } from "./amount.tsx";
import { Sources } from "./sources.tsx";

/** What rows can be sorted by. */
type Order = bigint | number | string;

/** An amount per row, null where there is none: to the right, its unit in the head, the points below each other. */
type AmountColumn<Row> = {
  readonly head: string;
  readonly unit: Unit;
  readonly amount: (row: Row) => Integer | null;
};
/** Anything else. With `sortBy` its head sorts; `numeric` aligns it to the right. */
type CellColumn<Row> = {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  readonly sortBy?: (row: Row) => Order;
};
export type Column<Row> = AmountColumn<Row> | CellColumn<Row>;

type Sorting = { readonly head: string; readonly descending: boolean };

const isAmount = <Row,>(column: Column<Row>): column is AmountColumn<Row> => "amount" in column;
const isNumeric = <Row,>(column: Column<Row>): boolean => isAmount(column) || column.numeric === true;

function orderOf<Row>(column: Column<Row>): ((row: Row) => Order) | undefined {
  if (!isAmount(column)) return column.sortBy;
  // A row without an amount comes below all others.
  return (row) => {
    const value = column.amount(row);
    return value === null ? -1n : BigInt(value);
  };
}

const compare = (a: Order, b: Order) => (a < b ? -1 : a > b ? 1 : 0);

function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sorting: Sorting | undefined) {
  const column = columns.find(({ head }) => head === sorting?.head);
  const by = column && orderOf(column);
  if (!by) return rows;
  const sign = sorting?.descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(by(a), by(b)));
}

/** The rows that came after the first showing: they slide in once. */
function useNewKeys(keys: readonly string[]): ReadonlySet<string> {
  const known = useRef<Set<string>>(undefined);
  const added = useRef(new Set<string>());
  if (known.current) for (const key of keys) if (!known.current.has(key)) added.current.add(key);
  known.current = new Set([...(known.current ?? []), ...keys]);
  return added.current;
}

function HeadCell<Row>({
  column,
  sorting,
  onSort,
}: {
  column: Column<Row>;
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting) => void;
}) {
  const { head } = column;
  const isSorted = sorting?.head === head;
  // Numbers begin with the largest, words with A.
  const descending = isSorted ? !sorting.descending : isNumeric(column);
  const symbol = isAmount(column) ? units[column.unit].symbol : "";
  const label = (
    <>
      {head}
      {symbol !== "" && <span class="unit"> {symbol}</span>}
    </>
  );
  const order = isSorted ? (sorting.descending ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" class={isNumeric(column) ? "numeric" : undefined} aria-sort={order}>
      {orderOf(column) ? (
        <button type="button" class="sort" onClick={() => onSort({ head, descending })}>
          {label}
        </button>
      ) : (
        label
      )}
    </th>
  );
}

/** The most digits after the point in a column: all of its amounts get as many. */
const digitsOf = <Row,>({ unit, amount }: AmountColumn<Row>, rows: readonly Row[]): number =>
  Math.max(
    0,
    ...rows.map((row) => {
      const value = amount(row);
      return value === null ? 0 : amountParts(value, unit).fraction.length;
    }),
  );

function Cell<Row>({ column, row, digits }: { column: Column<Row>; row: Row; digits: number | undefined }) {
  if (!isAmount(column)) return <td class={column.numeric ? "numeric" : undefined}>{column.cell(row)}</td>;
  const value = column.amount(row);
  return (
    <td class="numeric">
      {value === null ? "–" : <Amount value={value} unit={column.unit} least={digits} bare />}
    </td>
  );
}

/**
 * A table with a caption. It scrolls sideways where it is wider than the page. A row with a new name slides in once; where
 * another view shows other rows, give the table a `key` of that view.
 * @param keyOf names a row
 * @param source address of its data (`api.address(…)`): links to JSON and CSV
 * @param empty says why there is no row
 */
export function Table<Row>({
  caption,
  rows,
  columns,
  keyOf,
  source,
  empty,
}: {
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  source?: string;
  empty: string;
}) {
  const [sorting, setSorting] = useState<Sorting>();
  const newKeys = useNewKeys(rows.map(keyOf));
  const digits = columns.map((column) => (isAmount(column) ? digitsOf(column, rows) : undefined));
  return (
    <figure class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scroll" aria-label={caption} tabIndex={0}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <HeadCell key={column.head} column={column} sorting={sorting} onSort={setSorting} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted(rows, columns, sorting).map((row) => (
              <tr key={keyOf(row)} class={newKeys.has(keyOf(row)) ? "new" : undefined}>
                {columns.map((column, index) => (
                  <Cell key={column.head} column={column} row={row} digits={digits[index]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length === 0 && <p class="empty">{empty}</p>}
      {source !== undefined && (
        <figcaption>
          <Sources url={source} what={caption} />
        </figcaption>
      )}
    </figure>
  );
}

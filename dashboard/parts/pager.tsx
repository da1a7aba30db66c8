/** Steps through a list whose pages name the next one. */
import { useState } from "preact/hooks";

export type Pages = {
  /** Of the page that is shown; undefined for the first. */
  readonly cursor: string | undefined;
  readonly number: number;
  /** Whether the reader has left the first page before: the steps stay where they are. */
  readonly moved: boolean;
  readonly forward: (cursor: string) => void;
  readonly back: () => void;
};

/** The reader's place in a list. Another list needs a component with another `key`. */
export function usePages(): Pages {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [moved, setMoved] = useState(false);
  return {
    cursor: cursors.at(-1),
    number: cursors.length + 1,
    moved,
    forward(cursor) {
      setCursors([...cursors, cursor]);
      setMoved(true);
    },
    back: () => setCursors(cursors.slice(0, -1)),
  };
}

/** @param next the next page's cursor, null at the end, undefined while it is not known */
export function Pager({
  pages: { number, moved, forward, back },
  next,
  what,
}: {
  pages: Pages;
  next: string | null | undefined;
  what: string;
}) {
  if (!moved && typeof next !== "string") return null;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <button type="button" disabled={number === 1} onClick={back}>
        Previous
      </button>
      <span>Page {number}</span>
      <button
        type="button"
        disabled={next === null}
        onClick={() => {
          if (typeof next === "string") forward(next);
        }}
      >
        Next
      </button>
    </nav>
  );
}

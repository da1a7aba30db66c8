import { place, viewHref } from "../data/place.ts";
import { Link } from "./link.tsx";

/** The cursor of a list in the address; undefined on its first page. */
export const cursorInView = (name: string): string | undefined => place.value.view.get(name) ?? undefined;

/**
 * Leads through the pages of a long list, whose cursor is in the address under `name`. Nothing where all of it is on one page.
 * @param what names the rows: `holders`
 */
export function PageLinks({ name, next, what }: { name: string; next: string | null; what: string }) {
  const isFirst = cursorInView(name) === undefined;
  if (isFirst && next === null) return null;
  return (
    <nav class="choices page-links" aria-label={`Pages of ${what}`}>
      {!isFirst && <Link to={viewHref({ [name]: undefined })}>First {what}</Link>}
      {next !== null && <Link to={viewHref({ [name]: next })}>Next {what}</Link>}
    </nav>
  );
}

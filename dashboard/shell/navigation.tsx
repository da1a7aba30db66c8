import { useEffect, useState } from "preact/hooks";
import { place } from "../data/place.ts";
import { type PageName, pageList } from "../page-list.ts";
import { Link } from "../parts/link.tsx";
import { Icon } from "./icons.tsx";

/** On a phone the bar has room for these; the others are behind “More”. */
const inBar: readonly PageName[] = ["overview", "cover", "claims", "wallet"];

const Entry = ({ name, path, title }: (typeof pageList)[number]) => (
  <Link to={path} class={inBar.includes(name) ? "entry in-bar" : "entry"} current={place.value.page === name}>
    <Icon of={name} />
    <span>{title}</span>
  </Link>
);

/** The pages: a rail at the left, or a bar below on a narrow screen. */
export function Navigation() {
  const [open, setOpen] = useState(false);
  const here = place.value;
  // Each change of the place closes it.
  useEffect(() => setOpen(false), [here]);
  const isBehindMore = here.page !== undefined && !inBar.includes(here.page);
  return (
    <nav
      class={open ? "pages open" : "pages"}
      aria-label="Pages"
      onKeyDown={({ key }) => {
        if (key === "Escape") setOpen(false);
      }}
    >
      {pageList.map((page) => (
        <Entry key={page.name} {...page} />
      ))}
      <button
        type="button"
        class={isBehindMore ? "entry more here" : "entry more"}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
          <path d="M4 6h12M4 10h12M4 14h12" />
        </svg>
        <span>More</span>
      </button>
    </nav>
  );
}

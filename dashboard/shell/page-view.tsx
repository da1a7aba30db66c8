/** Loads and shows the page of the place. */
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { createPart, type Part, usePart } from "../data/part.ts";
import { place } from "../data/place.ts";
import { type PageName, pageList } from "../page-list.ts";
import { loadPage, type PageModule } from "../pages/load.ts";
import { Head } from "../parts/head.tsx";
import { Link } from "../parts/link.tsx";
import { PartFailed } from "../parts/part-failed.tsx";

const SERVICE = "Parametric Cover Service";

const titleOf = (name: PageName | undefined) =>
  pageList.find((page) => page.name === name)?.title ?? "Not found";

const parts = new Map<PageName, Part<PageModule>>();

/** The script of a page. */
function partOf(name: PageName): Part<PageModule> {
  const part = parts.get(name) ?? createPart(loadPage[name]);
  parts.set(name, part);
  return part;
}

/** After a step to another page its heading has the focus, as after a load of the page. */
function useHeadingFocus(shown: ComponentType | undefined): void {
  const before = useRef<ComponentType>(undefined);
  useEffect(() => {
    if (shown === undefined) return;
    if (before.current !== undefined) {
      scrollTo(0, 0);
      document.getElementById("title")?.focus({ preventScroll: true });
    }
    before.current = shown;
  }, [shown]);
}

const NotFound = () => (
  <Head title="Not found">
    There is no page at this address. <Link to="/">Go to the overview</Link>
  </Head>
);

export function PageView() {
  const { page } = place.value;
  const part = usePart(page && partOf(page));
  const shown = useRef<ComponentType>(undefined);
  // The page before stays until the next one is loaded.
  if (part.state === "loaded") shown.current = part.module.default;
  const View = shown.current;
  useHeadingFocus(View);
  useEffect(() => {
    document.title = `${titleOf(page)} · ${SERVICE}`;
  }, [page]);
  if (page === undefined) return <NotFound />;
  if (part.state === "failed") {
    return (
      <Head title={titleOf(page)}>
        <PartFailed what="This page" retry={part.retry} />
      </Head>
    );
  }
  return View ? <View /> : null;
}

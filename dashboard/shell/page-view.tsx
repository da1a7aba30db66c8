/** Loads and shows the page of the place. */
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { place } from "../data/place.ts";
import { type PageName, pageList } from "../page-list.ts";
import { loadPage } from "../pages/load.ts";
import { Head } from "../parts/head.tsx";
import { Link } from "../parts/link.tsx";

type Loaded =
  | { readonly state: "loading" }
  | { readonly state: "shown"; readonly name: PageName; readonly View: ComponentType }
  | { readonly state: "failed" };

const SERVICE = "Parametric Cover Service";

const titleOf = (name: PageName | undefined) =>
  pageList.find((page) => page.name === name)?.title ?? "Not found";

/** The module of a page, once it is loaded. The page before stays until then. */
function usePage(name: PageName | undefined): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ state: "loading" });
  useEffect(() => {
    if (name === undefined) return;
    let left = false;
    loadPage[name]().then(
      (module) => {
        if (!left) setLoaded({ state: "shown", name, View: module.default });
      },
      () => {
        if (!left) setLoaded({ state: "failed" });
      },
    );
    return () => {
      left = true;
    };
  }, [name]);
  return loaded;
}

/** After a step to another page its heading has the focus, as after a load of the page. */
function useHeadingFocus(shown: PageName | undefined): void {
  const before = useRef<PageName>(undefined);
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
  const loaded = usePage(page);
  useHeadingFocus(loaded.state === "shown" ? loaded.name : undefined);
  useEffect(() => {
    document.title = `${titleOf(page)} · ${SERVICE}`;
  }, [page]);
  if (page === undefined) return <NotFound />;
  if (loaded.state === "failed") {
    return (
      <Head title={titleOf(page)}>
        This page could not be loaded: the service may have a newer version.{" "}
        <a href={location.href}>Load it again</a>
      </Head>
    );
  }
  return loaded.state === "shown" ? <loaded.View /> : null;
}

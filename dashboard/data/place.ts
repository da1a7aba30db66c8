/** Where the reader is: the page and its view (range, product) are in the address, so that a view can be shared. */
import { computed, signal } from "@preact/signals";
import { type PageName, pageList } from "../page-list.ts";

/** A page, what stands behind its path (a wallet's address), and the view. `page` is undefined for an unknown address. */
export type Place = {
  readonly page: PageName | undefined;
  readonly detail: string | undefined;
  readonly view: URLSearchParams;
};

export function placeOf({ pathname, search }: Pick<URL, "pathname" | "search">): Place {
  const [, first = "", detail, ...more] = pathname.replace(/\/$/, "").split("/");
  const page = pageList.find(({ path }) => path === `/${first}`);
  const isKnown = more.length === 0 && (detail === undefined || page?.name === "wallet");
  return {
    page: isKnown ? page?.name : undefined,
    detail: detail === "" ? undefined : detail,
    view: new URLSearchParams(search),
  };
}

const current = signal<Place>(placeOf(location));
/** The place that is shown. */
export const place = computed(() => current.value);

const read = () => {
  current.value = placeOf(location);
};
addEventListener("popstate", read);

/** Goes to another page of the dashboard, as a click on a link does. */
export function go(href: string): void {
  history.pushState(null, "", href);
  read();
}

/** The address of this page with another view; a value that is undefined leaves its name out. */
export function viewHref(changes: Readonly<Record<string, string | undefined>>): string {
  const view = new URLSearchParams(place.value.view);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) view.delete(name);
    else view.set(name, value);
  }
  const search = view.toString();
  return search === "" ? location.pathname : `${location.pathname}?${search}`;
}

/**
 * A choice in the address: `const range = choice("range", ["day", "week"])`. The first option counts where the address names
 * none, or one that does not exist.
 */
export function choice<Option extends string>(name: string, options: readonly [Option, ...Option[]]): Option {
  const given = place.value.view.get(name);
  return options.find((option) => option === given) ?? options[0];
}

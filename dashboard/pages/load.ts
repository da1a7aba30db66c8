/** The pages' modules, each in a file of its own that is loaded when it is shown. */
import type { ComponentType } from "preact";
import type { PageName } from "../page-list.ts";

export type PageModule = { readonly default: ComponentType };

export const loadPage: Readonly<Record<PageName, () => Promise<PageModule>>> = {
  overview: () => import("./overview/page.tsx"),
  cover: () => import("./cover/page.tsx"),
  claims: () => import("./claims/page.tsx"),
  bonds: () => import("./bonds/page.tsx"),
  market: () => import("./market/page.tsx"),
  token: () => import("./token/page.tsx"),
  wallet: () => import("./wallet/page.tsx"),
  status: () => import("./status/page.tsx"),
  operator: () => import("./operator/page.tsx"),
};

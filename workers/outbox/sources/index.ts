import { bondSources } from "./bonds.ts";
import { burnSources } from "./burns.ts";
import { marketplaceSources } from "./marketplace.ts";
import { policySources } from "./policies.ts";
import type { Source } from "./source.ts";

/** The sources of all events that a log causes. */
export const sources: readonly Source[] = [
  ...policySources,
  ...bondSources,
  ...marketplaceSources,
  ...burnSources,
];

import { bondSources } from "./bonds.ts";
import { burnSources } from "./burns.ts";
import { marketSources } from "./market.ts";
import { policySources } from "./policies.ts";
import type { Source } from "./source.ts";

/** Every event that a log tells. */
export const sources: readonly Source[] = [
  ...policySources,
  ...bondSources,
  ...marketSources,
  ...burnSources,
];

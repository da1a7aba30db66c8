/** Faults of the service that are known and not mended yet: the fuzz finds them, and does not fail. */
import type { Planned } from "./requests.ts";

export type KnownFault = {
  readonly why: string;
  readonly covers: (planned: Planned, fault: string) => boolean;
};

export const knownFaults: readonly KnownFault[] = [
  {
    why: "S14: a path with a broken encoding is not limited, and its answer lacks the headers of the limit",
    covers: ({ about }, fault) =>
      about.startsWith("path with ") && /^the header x-ratelimit-\w+ is missing/.test(fault),
  },
  {
    why: "S10: a space before the parameters of a content type is refused",
    covers: ({ about }) => about === "content type application/json ; charset=utf-8",
  },
];

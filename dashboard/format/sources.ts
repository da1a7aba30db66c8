/** Who burned tokens, in words. */
const sources: Readonly<Record<string, string>> = {
  twap_burner: "TWAP burner",
  buyback_engine: "Buyback engine",
  direct: "Their owner",
};

export const sourceLabel = (source: string): string => sources[source] ?? source;

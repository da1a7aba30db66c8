/** Who burned tokens, in words: as a name, and within a sentence. */
const sources: Readonly<Record<string, { readonly name: string; readonly by: string }>> = {
  twap_burner: { name: "TWAP burner", by: "by the TWAP burner" },
  buyback_engine: { name: "Buyback engine", by: "by the buyback engine" },
  direct: { name: "Holders", by: "by holders" },
};

/** “TWAP burner” */
export const sourceLabel = (source: string): string => sources[source]?.name ?? source;

/** “by the TWAP burner” */
export const bySource = (source: string): string => sources[source]?.by ?? source;

/** Typed actions on a deployed protocol, for seeds, tests, demos and benchmarks. */
export * from "./adapters.ts";
export * from "./admin.ts";
export * from "./bonds.ts";
export * from "./burns.ts";
export * from "./feeds.ts";
export * from "./market.ts";
export * from "./observations.ts";
export * from "./policies.ts";
export * from "./protocol.ts";
export * from "./time.ts";
export * from "./token-price.ts";

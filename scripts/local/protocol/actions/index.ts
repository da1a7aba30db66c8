/** Typed actions on a deployed protocol, for seeds, tests, demos and benchmarks. */
export * from "./admin.ts";
export * from "./bonds.ts";
export * from "./burns.ts";
export * from "./feeds.ts";
export * from "./market.ts";
export * from "./policies.ts";
export * from "./protocol.ts";
export * from "./time.ts";
export * from "./token-price.ts";

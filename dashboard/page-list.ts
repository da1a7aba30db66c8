/** The pages, in the order of the navigation. The build and the API's routes follow this list. */
export type PageName = (typeof pageList)[number]["name"];

/** `path` is that of the address; `:name` stands for one part of it. `module` is the file in `pages/`. */
export const pageList = [
  { name: "overview", path: "/", title: "Overview" },
  { name: "cover", path: "/cover", title: "Cover" },
  { name: "claims", path: "/claims", title: "Claims" },
  { name: "bonds", path: "/bonds", title: "Bonds" },
  { name: "market", path: "/market", title: "Market" },
  { name: "token", path: "/token", title: "Token" },
  { name: "wallet", path: "/wallet", title: "Wallet" },
  { name: "status", path: "/status", title: "Status" },
  { name: "operator", path: "/operator", title: "Operator" },
] as const;

/**
 * `npm run dev` runs the whole service on this machine: Postgres, two local chains with the protocol and a history, and
 * indexer, api and writer as real processes. Ctrl-C stops all of it. Each start begins with a fresh chain.
 */
import { ConfigError } from "../lib/config-error.ts";
import { runStackCommand } from "./dev/run-stack-command.ts";

runStackCommand((argv) => {
  if (argv.length > 0) throw new ConfigError([`npm run dev has no arguments, not ${argv.join(" ")}`]);
  return { kind: "fresh" };
});

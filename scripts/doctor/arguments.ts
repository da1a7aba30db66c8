import { UsageError } from "../usage-error.ts";
import { type ProcessName, processNames } from "./settings.ts";

export type DoctorCommand = { do: "help" } | { do: "examine"; processes: readonly ProcessName[] };

export const usage = `npm run doctor                     examines this environment for indexer, api and writer together
npm run doctor -- api              for one process, in its own environment; several may be named
It changes nothing. Exit code 1: a fault keeps the service from running safely. Warnings are advice.`;

const processOf = (argument: string): ProcessName => {
  const found = processNames.find((name) => name === argument);
  if (!found) throw new UsageError(`${argument}: must be indexer, api or writer\n\n${usage}`);
  return found;
};

/** @throws UsageError for an argument that is not a process */
export function parseDoctorArguments(args: readonly string[]): DoctorCommand {
  if (args.some((argument) => argument === "--help" || argument === "-h")) return { do: "help" };
  const named = args.map(processOf);
  return {
    do: "examine",
    processes: named.length === 0 ? processNames : processNames.filter((p) => named.includes(p)),
  };
}

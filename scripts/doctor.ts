/**
 * `npm run doctor` examines an environment before the service starts in it, and names each fault with its remedy. It reads the same
 * variables as the processes, and changes nothing.
 */
import { errorText } from "../lib/log.ts";
import { projectRoot } from "../lib/project-root.ts";
import { parseDoctorArguments, usage } from "./doctor/arguments.ts";
import { examine } from "./doctor/examine.ts";
import { isFault } from "./doctor/finding.ts";
import { reportText } from "./doctor/report.ts";
import { UsageError } from "./usage-error.ts";

/** @returns the exit code: 1 if the environment has a fault. */
async function main(): Promise<number> {
  const command = parseDoctorArguments(process.argv.slice(2));
  if (command.do === "help") {
    console.log(usage);
    return 0;
  }
  const findings = await examine({
    env: process.env,
    processes: command.processes,
    folder: projectRoot,
    userId: process.getuid?.(),
  });
  console.log(reportText(findings));
  return findings.some(isFault) ? 1 : 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof UsageError ? error.message : errorText(error));
    process.exitCode = 1;
  },
);

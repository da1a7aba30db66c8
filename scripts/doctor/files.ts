/** Checks who may read and change the files that the service trusts. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Finding, findingsOf } from "./finding.ts";

/** Permission bits. */
const READABLE_BY_ANYBODY = 0o004;
const READABLE_BY_GROUP = 0o040;
const WRITABLE_BY_ANYBODY = 0o002;

const { ok, warning, fault } = findingsOf("files");

const modeOf = (file: string): number => statSync(file).mode;
const modeText = (file: string): string => (modeOf(file) & 0o777).toString(8);

/** Whoever changes one of these files chooses where money goes. */
function examineWritable(file: string): Finding[] {
  if (!existsSync(file) || (modeOf(file) & WRITABLE_BY_ANYBODY) === 0) return [];
  return [
    fault(
      `${file} may be changed by everybody on this machine (mode ${modeText(file)})`,
      `chmod o-w ${file}`,
    ),
  ];
}

function examineSecretFile(file: string): Finding[] {
  if (!existsSync(file) || (modeOf(file) & (READABLE_BY_ANYBODY | READABLE_BY_GROUP)) === 0) return [];
  return [
    fault(`${file} holds keys and may be read by others (mode ${modeText(file)})`, `chmod 600 ${file}`),
  ];
}

const bundles = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(".mjs"))
        .map((name) => join(folder, name))
    : [];

/**
 * Checks the deployment files, and in the project's folder `.env` and the bundles.
 *
 * @param userId the user of this process; undefined where the system has none.
 */
export function examineFiles(
  folder: string,
  deploymentFiles: readonly string[],
  userId: number | undefined,
): Finding[] {
  const trusted = [...deploymentFiles, ...bundles(join(folder, "dist"))];
  const found = [...trusted.flatMap(examineWritable), ...examineSecretFile(join(folder, ".env"))];
  const findings = found.length > 0 ? found : [ok("nobody else may change the programs, or read the keys")];
  if (userId === 0) {
    findings.push(
      warning(
        "this is the user root",
        "run the service as a user of its own, who may not change its programs",
      ),
    );
  }
  return findings;
}

/**
 * `npm run monitoring` writes the alert rules and the board in `ops/` from the metrics that the processes export. `--check` writes
 * nothing and fails when a file differs.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "../lib/project-root.ts";
import { rows } from "./monitoring/board.ts";
import { grafanaDocument } from "./monitoring/grafana.ts";
import { ruleDocument } from "./monitoring/rules.ts";

const textOf = (document: unknown) => `${JSON.stringify(document, undefined, 2)}\n`;

/** The generated files by their path in the project. JSON is YAML, so Prometheus reads the rules. */
export const monitoringFiles = (): Readonly<Record<string, string>> => ({
  "ops/prometheus-rules.yml": textOf(ruleDocument()),
  "ops/grafana-board.json": textOf(grafanaDocument(rows)),
});

/** Writes the files, or compares them. @throws when `check` finds a difference */
export function writeMonitoring({ check }: { check: boolean }): void {
  for (const [path, text] of Object.entries(monitoringFiles())) {
    const file = join(projectRoot, path);
    if (!check) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    } else if (readFileSync(file, "utf8") !== text) {
      throw new Error(`${path} differs from scripts/monitoring: run \`npm run monitoring\`.`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeMonitoring({ check: process.argv.includes("--check") });

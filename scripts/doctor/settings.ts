/** The variables of the processes that are to start in this environment. */
import {
  type ApiConfig,
  apiConfig,
  type Environment,
  type IndexerConfig,
  indexerConfig,
  type WriterConfig,
  writerConfig,
} from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";
import { type Finding, findingsOf } from "./finding.ts";

export const processNames = ["indexer", "api", "writer"] as const;
export type ProcessName = (typeof processNames)[number];

/** The valid configurations; a process with a bad one, or that is not examined, has none. */
export type Settings = {
  readonly indexer: IndexerConfig | undefined;
  readonly api: ApiConfig | undefined;
  readonly writer: WriterConfig | undefined;
};

const { ok, fault } = findingsOf("configuration");

/** Reads the configuration of these processes. Each bad variable is one finding, however many of them need it. */
export function readSettings(
  env: Environment,
  processes: readonly ProcessName[],
): { settings: Settings; findings: Finding[] } {
  const bad = new Map<string, ProcessName[]>();
  function read<Config>(name: ProcessName, parse: (env: Environment) => Config): Config | undefined {
    if (!processes.includes(name)) return undefined;
    try {
      return parse(env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const text of error.faults) bad.set(text, [...(bad.get(text) ?? []), name]);
      return undefined;
    }
  }
  const settings = {
    indexer: read("indexer", indexerConfig),
    api: read("api", apiConfig),
    writer: read("writer", writerConfig),
  };
  const findings = [...bad].map(([text, names]) =>
    fault(`${text} (${names.join(", ")})`, "correct the variable; .env.example explains each"),
  );
  const valid = processes.filter((name) => settings[name] !== undefined);
  if (valid.length > 0) findings.push(ok(`the variables of ${valid.join(", ")} are valid`));
  return { settings, findings };
}

/** The configurations that are valid. */
export const present = ({ indexer, api, writer }: Settings) =>
  [indexer, api, writer].filter((config) => config !== undefined);

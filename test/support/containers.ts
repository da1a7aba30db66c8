/** Dockerfile and compose.yaml, read as Docker reads them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";

export type Variables = Readonly<Record<string, string>>;

/** An instruction of a Dockerfile, with its continued lines joined. */
export type Instruction = { readonly name: string; readonly text: string };

/** The instructions of each stage; each begins with FROM. */
export function readDockerfile(): Instruction[][] {
  const text = readFileSync(join(projectRoot, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
  const stages: Instruction[][] = [];
  for (const line of text.split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
    const [name = "", ...rest] = line.split(" ");
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, text: rest.join(" ") });
  }
  return stages;
}

/** The texts of all instructions with this name. */
export const textsOf = (stage: readonly Instruction[], name: string): string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text);

/** The program and arguments of an instruction in its JSON form. */
export const commandOf = (text: string): string[] =>
  z.array(z.string()).parse(JSON.parse(text.slice(text.indexOf("["))));

const service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  networks: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  read_only: z.boolean().optional(),
});
const composeSchema = z.looseObject({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.object({ internal: z.boolean() }).partial().nullable()),
  volumes: z.record(z.string(), z.null()),
});
export type ComposeService = z.output<typeof service>;

export const readCompose = () =>
  composeSchema.parse(load(readFileSync(join(projectRoot, "compose.yaml"), "utf8")));

/**
 * A text with its `${NAME}`, `${NAME:-default}`, `${NAME:+other}` and `${NAME:?message}` replaced; an empty variable counts as unset.
 * @throws with name and message for the last form, where the variable is unset
 */
export const interpolate = (text: string, env: Variables): string =>
  text.replace(
    /\$\{([A-Z_]+)(?::([-+?])([^}]*))?\}/g,
    (_, name: string, operator: string | undefined, rest: string = "") => {
      const value = env[name] ?? "";
      if (operator === "+") return value === "" ? "" : rest;
      if (value !== "") return value;
      if (operator === "?") throw new Error(`${name} ${rest}`);
      return operator === "-" ? rest : "";
    },
  );

/** The environment of a service's container. Those without a value are passed on where they are set. */
export function environmentOf({ environment }: ComposeService, env: Variables): Record<string, string> {
  const entries = Object.entries(environment).map(([name, value]): [string, string] => [
    name,
    value === null ? (env[name] ?? "") : interpolate(value, env),
  ]);
  return Object.fromEntries(entries);
}

const random = "7c1e95d3b80af2466e3d51c9a7240b8f1d6359ec82f7a04b6c5e9d13a8f04b72";
/** A `.env` with what compose.yaml requires. */
export const requiredVariables: Variables = {
  POSTGRES_PASSWORD: `${random.slice(8)}aaaaaaaa`,
  OWNER_PASSWORD: `${random.slice(16)}aaaaaaaa`,
  API_PASSWORD: `${random.slice(24)}aaaaaaaa`,
  RPC_URL: "https://rpc.example",
  DEPLOYMENT_FILE: "main.json",
  SECRETS_KEY: random,
  ADMIN_TOKEN: [...random].reverse().join(""),
  PUBLIC_URL: "https://api.example",
  RELAYER_PRIVATE_KEYS: `0x${random}`,
};

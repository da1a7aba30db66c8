/**
 * `npm run dev`: the whole service on this machine. Postgres, two local chains with the protocol and a history,
 * indexer, api and writer as real processes; Ctrl-C stops all of it. Each start is a fresh chain.
 */
import { devConfig } from "../lib/config.ts";
import { errorText } from "../lib/log.ts";
import { Lifetime } from "./dev/lifetime.ts";
import { parseDevArguments } from "./dev/options.ts";
import { beginRun } from "./dev/run-note.ts";
import { runStack, stackFolders } from "./dev/stack.ts";

type Ending = { readonly exitCode: number; readonly reason?: string };

/** An error and what caused it, one line each. */
function explain(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? `\n  ${explain(error.cause)}` : "";
  return `${errorText(error)}${cause}`;
}

async function main(): Promise<void> {
  const config = devConfig(process.env);
  const source = parseDevArguments(process.argv.slice(2));
  const note = await beginRun(stackFolders(config).note);
  const lifetime = new Lifetime();

  const ending = new Promise<Ending>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (lifetime.stopping) {
          note.killAll();
          process.exit(130);
        }
        resolve({ exitCode: 0 });
      });
    }
    // A reader of our output that goes away (`npm run dev | head`) must not take the stack's end with it.
    process.stdout.on("error", () => resolve({ exitCode: 0 }));
    process.stderr.on("error", () => resolve({ exitCode: 0 }));
    const fail = (reason: string) => resolve({ exitCode: 1, reason });
    process.on("uncaughtException", (error) => fail(explain(error)));
    process.on("unhandledRejection", (error) => fail(explain(error)));
    runStack({ config, source, note, lifetime, fail }).catch((error: unknown) => fail(explain(error)));
  });

  const { exitCode, reason } = await ending;
  if (reason !== undefined) console.error(`\n${reason}\n`);
  console.log("Stopping …");
  await lifetime.stop();
  process.exit(exitCode);
}

main().catch((error: unknown) => {
  console.error(explain(error));
  process.exit(1);
});

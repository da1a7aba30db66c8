import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { projectRoot } from "../../lib/project-root.ts";

/** A process whose loop has a round that never ends; a timer keeps it alive. */
const STUCK_PROCESS = `
  import { startLoop } from "./workers/common/loop.ts";
  import { createLogger } from "./lib/log.ts";
  setInterval(() => {}, 1000);
  let rounds = 0;
  startLoop({
    name: "the loop",
    log: createLogger("test", "info"),
    pauseMs: () => 0,
    stuckMs: 300,
    round: () => (rounds++ < 3 ? Promise.resolve() : new Promise(() => {})),
  });
`;

test("a round that does not end is logged and ends the process", async () => {
  const args = ["--input-type=module", "-e", STUCK_PROCESS];
  const { code, output } = await new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = execFile(process.execPath, args, { cwd: projectRoot, timeout: 60_000 }, (_error, stdout) =>
      resolve({ code: child.exitCode, output: stdout }),
    );
  });
  expect(output).toContain("the loop: one round does not end");
  expect(code).toBe(1);
});

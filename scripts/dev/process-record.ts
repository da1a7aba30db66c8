/**
 * The record of a dev stack's processes in `.data/`. A stack that was killed leaves its processes running, and the next
 * stack ends them with the help of this record.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { commandLine, isRunning, signalPid, waitUntilGone } from "../local/pids.ts";

const processShape = z.object({ name: z.string(), pid: z.int().positive(), command: z.string() });
const recordShape = z.object({ stack: processShape, children: z.array(processShape) });
type RecordedProcess = z.output<typeof processShape>;

export type ProcessRecord = {
  readonly add: (name: string, pid: number) => void;
  /** Kills all recorded processes, for a user who does not wait for an orderly stop. */
  readonly killAll: () => void;
};

/** The id may belong to another process by now; then the command line differs. */
const stillRuns = ({ pid, command }: RecordedProcess) => isRunning(pid) && commandLine(pid) === command;

const recorded = (name: string, pid: number): RecordedProcess => ({
  name,
  pid,
  command: commandLine(pid) ?? "",
});

const recordFile = (dataDir: string) => join(dataDir, "dev-stack.json");

/** Reads the record of the stack in `dataDir`; undefined when there is none, or only part of one was written. */
export function readProcessRecord(dataDir: string): z.output<typeof recordShape> | undefined {
  try {
    return recordShape.parse(JSON.parse(readFileSync(recordFile(dataDir), "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Ends the processes that an earlier stack left in `dataDir`, and begins the record of this stack.
 * @throws when a stack is still running there.
 */
export async function beginProcessRecord(dataDir: string): Promise<ProcessRecord> {
  const earlier = readProcessRecord(dataDir);
  if (earlier && earlier.stack.pid !== process.pid && stillRuns(earlier.stack)) {
    throw new Error(
      `a dev stack runs in this folder already, as process ${earlier.stack.pid}: stop it first`,
    );
  }
  for (const { name, pid } of earlier?.children.filter(stillRuns) ?? []) {
    console.log(`Ending ${name} (process ${pid}), left behind by an earlier run`);
    signalPid(pid, "SIGKILL", { group: true });
    await waitUntilGone(pid, 5_000);
  }

  const file = recordFile(dataDir);
  const children: RecordedProcess[] = [];
  const stack = recorded("dev stack", process.pid);
  const write = () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, JSON.stringify({ stack, children }, null, 2));
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    add(name, pid) {
      children.push(recorded(name, pid));
      write();
    },
    killAll() {
      for (const child of children.filter(stillRuns)) signalPid(child.pid, "SIGKILL", { group: true });
    },
  };
}

/**
 * The note of a dev stack in `.data/`: which processes belong to it. A stack that was killed outright leaves its
 * processes running, and the next one ends them by this note.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { commandLine, isRunning, signalPid, waitUntilGone } from "../local/pids.ts";

const processShape = z.object({ name: z.string(), pid: z.int().positive(), command: z.string() });
const noteShape = z.object({ stack: processShape, children: z.array(processShape) });
type Noted = z.output<typeof processShape>;

export type RunNote = {
  readonly add: (name: string, pid: number) => void;
  /** Kills all that was noted, for somebody who will not wait for an orderly stop. */
  readonly killAll: () => void;
};

/** An id may belong to another process by now; the command line tells. */
const stillRuns = ({ pid, command }: Noted) => isRunning(pid) && commandLine(pid) === command;

const noted = (name: string, pid: number): Noted => ({ name, pid, command: commandLine(pid) ?? "" });

function read(file: string): z.output<typeof noteShape> | undefined {
  try {
    return noteShape.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined; // none yet, or one that was cut off while it was written
  }
}

/**
 * Ends what a former stack left behind, and begins the note of this one.
 * @throws when a stack is running from this folder, and has not been left behind.
 */
export async function beginRun(file: string): Promise<RunNote> {
  const former = read(file);
  if (former && former.stack.pid !== process.pid && stillRuns(former.stack)) {
    throw new Error(`a dev stack runs in this folder already, as process ${former.stack.pid}: stop it first`);
  }
  const leftovers = former?.children.filter(stillRuns) ?? [];
  for (const { name, pid } of leftovers) {
    console.log(`Ending ${name} (process ${pid}), which a former run left behind`);
    signalPid(pid, "SIGKILL", { group: true });
    await waitUntilGone(pid, 5_000);
  }

  const children: Noted[] = [];
  const stack = noted("dev stack", process.pid);
  const write = () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, JSON.stringify({ stack, children }, null, 2));
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    add(name, pid) {
      children.push(noted(name, pid));
      write();
    },
    killAll() {
      for (const child of children.filter(stillRuns)) signalPid(child.pid, "SIGKILL", { group: true });
    },
  };
}

/** Kills parts of the service and starts them again, and starts again what has ended by itself, as a supervisor would. */
import { setTimeout as sleep } from "node:timers/promises";
import { exitCodes } from "../../../scripts/indexer/exit-codes.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import type { Outages } from "./outages.ts";
import type { Kill, KillRound, Victim } from "./plan-kills.ts";
import type { SoakWorld } from "./world.ts";

const services: readonly ServiceName[] = ["indexer", "api", "writer"];
const isService = (victim: Victim): victim is ServiceName => services.some((name) => name === victim);

function end({ stack, postgres, node }: SoakWorld, { victim, how }: Kill): Promise<unknown> {
  if (isService(victim)) return stack.kill9(victim);
  if (victim === "node") return node.kill();
  return how === "stopped" ? postgres.stop() : postgres.kill(how);
}

async function begin({ stack, postgres, node }: SoakWorld, { victim }: Kill): Promise<void> {
  if (victim === "node") await node.start();
  else if (victim === "postgres") await postgres.start();
  // The stack may have started an indexer by itself, after a commit that failed.
  else if (!stack.running(victim)) await stack.start(victim, { wait: false });
}

/** Kills the round's victims, starts them again, and waits until the service has recovered from each. */
export async function playRound(
  world: SoakWorld,
  { kills }: KillRound,
  { outages, dead }: { outages: Outages; dead: Set<Victim> },
): Promise<void> {
  await Promise.all(
    kills.map(async (kill) => {
      await sleep(kill.afterMs);
      const outage = outages.begin(kill.victim);
      dead.add(kill.victim);
      await end(world, kill);
      await sleep(kill.deadMs);
      await begin(world, kill);
      dead.delete(kill.victim);
      await outage.over();
    }),
  );
}

/**
 * One look of the supervisor: starts what has ended by itself. Only the indexer may, and only while Postgres or the node is away.
 * @throws when another process has ended.
 */
export async function supervise(
  { stack }: SoakWorld,
  { outages, dead, ended }: { outages: Outages; dead: ReadonlySet<Victim>; ended: Map<string, number> },
): Promise<void> {
  await sleep(250);
  for (const name of services) {
    const exit = dead.has(name) ? undefined : stack.running(name)?.exit();
    // That one the stack starts itself.
    if (!exit || (name === "indexer" && exit.code === exitCodes.lostCommit)) continue;
    const how = `the ${name} ended with ${exit.signal ?? `code ${exit.code}`}`;
    ended.set(how, (ended.get(how) ?? 0) + 1);
    if (name !== "indexer" || !outages.hadOneSince(Date.now() - 60_000)) throw new Error(how);
    await stack.restart(name, { wait: false });
  }
}

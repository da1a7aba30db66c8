import { waitFor } from "../../../scripts/local/wait.ts";
import { openRows } from "../../src/support/rows.ts";
import type { TestApi } from "./api.ts";

/** The first of block numbers above every row, for positions after which nobody has asked. */
const ABOVE_ALL = 10_000_000_000_000;
let asked = 0;

/**
 * Waits until answers describe the chain's newest block, also where a reorganisation has left its number as it was: first for the
 * rows, and then for an answer from them, which the api tells every kept answer by.
 */
export async function answersCaughtUp(
  {
    chain,
    stack,
    request,
  }: Pick<TestApi, "chain" | "request"> & { stack: Pick<TestApi["stack"], "databaseUrl"> },
  timeoutMs?: number,
): Promise<void> {
  const rows = openRows(stack.databaseUrl);
  try {
    await rows.caughtUp(chain.client, timeoutMs);
  } finally {
    await rows.close();
  }
  await waitFor({
    what: "the answers to be of the chain's newest block",
    probe: async () => {
      asked += 1;
      const { headers } = await request(`/api/v1/stats/activity?limit=1&cursor=${ABOVE_ALL + asked}-0`);
      const block = String(await chain.client.getBlockNumber());
      return headers.get("x-indexed-block") === block || undefined;
    },
    timeoutMs,
  });
}

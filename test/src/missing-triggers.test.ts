import { expect, test } from "vitest";
import { startChain } from "../support/chain.ts";
import { startStack } from "../support/stack.ts";
import { openRows, type Rows, servedSchema } from "./support/rows.ts";

test("without one of the sums' triggers an indexer refuses to start, and its rows stay as they are", async () => {
  const chain = await startChain();
  const stack = await startStack({ chain, services: ["indexer"] });
  const rows = openRows(stack.databaseUrl);
  let build: Rows | undefined;
  try {
    await rows.caughtUp(chain.client);
    await stack.stopService("indexer");
    const schema = await servedSchema(rows.sql);
    // The views' head is empty while an indexer catches up, and after one that never did.
    build = openRows(stack.databaseUrl, schema);
    const before = await build.everything();
    await rows.sql`drop trigger sums_insert on ${rows.sql(schema ?? "")}.policy`;
    await expect(stack.start("indexer")).rejects.toThrow(/indexer/);
    expect(await build.everything()).toEqual(before);
  } finally {
    await rows.close();
    await build?.close();
  }
});

/**
 * Whoever claims for a contract chooses code that our node runs. What this proves: one that burns all gas is refused at once
 * and gives back what it took up, and however many there are, everybody else is paid.
 */
import { expect, test } from "vitest";
import { failure } from "../api/support/api.ts";
import { claim, claimPatiently, expectPaidOnce } from "./support/faucet-truth.ts";
import { newcomer, newcomers, startTestnetWorld } from "./support/testnet-world.ts";

/** JUMPDEST PUSH0 JUMP: it goes round for as long as there is gas. */
const BURNER = "0x5b5f56";

test("wallets that burn all gas are refused at once, and hold up nobody", async () => {
  const world = await startTestnetWorld({ parts: "faucet", env: { api: { PURCHASE_WAIT_MS: "20000" } } });
  const { testnet, connection } = world;
  await claimPatiently(world, newcomer());
  const burners = newcomers(20);
  for (const { wallet } of burners) await testnet.client.setCode({ address: wallet, bytecode: BURNER });

  let over = false;
  const burning = burners.map(async (one) => {
    const told = new Set<string>();
    while (!over) told.add(String(failure(await claim(world, one))));
    return told;
  });
  const claimants = newcomers(10);
  const paid = await Promise.all(claimants.map((one) => claimPatiently(world, one)));
  over = true;
  expect(new Set((await Promise.all(burning)).flatMap((told) => [...told]))).toEqual(
    new Set(["502,onchain_revert"]),
  );
  expect(paid.map(({ seen }) => seen)).toEqual(paid.map(() => ["200"]));
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
  // Their places in the day are free again.
  const [day] = await connection.sql<{ claims: number }[]>`select claims from service.faucet_day`;
  expect(day?.claims).toBe(1 + claimants.length);
});

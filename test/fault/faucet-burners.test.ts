/**
 * A claim for a contract makes our node run the contract's code. What this proves: a contract that burns all gas is
 * refused at once and does not count towards the daily cap, and twenty of them do not delay other claims.
 */
import { expect, test } from "vitest";
import { failure } from "../api/support/api.ts";
import { claim, claimUntilPaid, expectPaidOnce } from "./support/faucet-calls.ts";
import { newClient, newClients, startTestnetSetup } from "./support/testnet-setup.ts";

/** JUMPDEST PUSH0 JUMP: loops until the gas is used up. */
const BURNER = "0x5b5f56";

test("wallets that burn all gas are refused at once, and do not delay other claims", async () => {
  const setup = await startTestnetSetup({ parts: "faucet", env: { api: { PURCHASE_WAIT_MS: "20000" } } });
  const { testnet, connection } = setup;
  await claimUntilPaid(setup, newClient());
  const burners = newClients(20);
  for (const { wallet } of burners) await testnet.client.setCode({ address: wallet, bytecode: BURNER });

  let over = false;
  const burning = burners.map(async (one) => {
    const failures: string[] = [];
    while (!over) failures.push(String(failure(await claim(setup, one))));
    return failures;
  });
  const claimants = newClients(10);
  const paid = await Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  over = true;
  for (const failures of await Promise.all(burning)) {
    // How many claims an address makes depends on the machine; after five that revert it has to wait.
    const expected = failures.map((_, index) => (index < 5 ? "502,onchain_revert" : "429,ip_rate_limited"));
    expect(failures).toEqual(expected);
  }
  expect(paid.map(({ seen }) => seen)).toEqual(paid.map(() => ["200"]));
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
  // The refused claims do not count towards the daily cap.
  const [day] = await connection.sql<
    { claims: number }[]
  >`select sum(claims)::int as claims from service.faucet_day`;
  expect(day?.claims).toBe(1 + claimants.length);
});

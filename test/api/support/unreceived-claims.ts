/** Claims whose result no caller has received: the client waits no longer, has gone, or the process has died. */
import { afterEach, expect, test } from "vitest";
import { waitFor } from "../../../scripts/local/wait.ts";
import { failure } from "./api.ts";
import {
  balancesOf,
  claimOnce,
  countTransfersTo,
  GRANT,
  grantOf,
  newClaimant,
  newClientAddress,
  newWallet,
  retryAfter,
  type TestFaucet,
} from "./faucet.ts";

/** The tests, on the faucet that the file has started. */
export function unreceivedClaims(faucet: () => TestFaucet): void {
  const mining = (on: boolean) => faucet().testnet.client.setAutomine(on);
  afterEach(() => mining(true));

  test("gets claim_pending until it is mined; a repeated call gets the result, and it is paid once", async () => {
    const claimant = newClaimant();
    await mining(false);
    const first = await faucet().claim(claimant);
    expect(failure(first)).toEqual([503, "claim_pending"]);
    expect(retryAfter(first)).toBe(5);
    expect(failure(await faucet().claim({ ...claimant, from: newClientAddress() }))).toEqual([
      429,
      "wallet_rate_limited",
    ]);
    expect(failure(await faucet().claim({ ...claimant, wallet: newWallet() }))).toEqual([
      429,
      "ip_rate_limited",
    ]);
    const [again, meanwhile] = await Promise.all([faucet().claim(claimant), faucet().claim(claimant)]);
    expect([again, meanwhile].map(failure).sort()).toEqual([
      [429, "wallet_rate_limited"],
      [503, "claim_pending"],
    ]);
    await mining(true);
    await faucet().testnet.client.mine({ blocks: 1 });
    const last = await claimOnce(faucet(), claimant);
    const { nextEligibleAt } = grantOf(last);
    const [claim] = await faucet().sql<{ ms: number }[]>`
      select extract(epoch from claimed_at)::float8 * 1000 as ms from service.faucet_claim
      where wallet = ${claimant.wallet.toLowerCase()}`;
    expect(new Date(nextEligibleAt).getTime()).toBe((claim?.ms ?? 0) + 24 * 3_600_000);
    expect(failure(await faucet().claim(claimant))).toEqual([429, "wallet_rate_limited"]);
    expect(await balancesOf(faucet(), claimant.wallet)).toEqual(GRANT);
    expect(await countTransfersTo(faucet(), claimant.wallet)).toBe(2);
  });

  test("the client disconnected: it gets the result with its next call", async () => {
    const claimant = newClaimant();
    await mining(false);
    await expect(faucet().claim({ ...claimant, request: { timeoutMs: 400 } })).rejects.toThrow();
    await mining(true);
    await faucet().testnet.client.mine({ blocks: 1 });
    const answer = await waitFor({
      what: "the claim to be joined",
      probe: async () => {
        const answer = await faucet().claim(claimant);
        return answer.status === 200 ? answer : undefined;
      },
      intervalMs: 50,
    });
    grantOf(answer);
    expect(await balancesOf(faucet(), claimant.wallet)).toEqual(GRANT);
  });

  test("the process died: the client gets the result from the next process", async () => {
    const claimant = newClaimant();
    await mining(false);
    const lost = faucet()
      .claim(claimant)
      .catch(() => "lost");
    await waitFor({
      what: "the claim to be recorded",
      probe: async () =>
        (
          await faucet()
            .sql`select 1 from service.faucet_claim where wallet = ${claimant.wallet.toLowerCase()}`
        )[0],
    });
    await faucet().stack.kill9("api");
    expect(await lost).toBe("lost");
    await mining(true);
    await faucet().testnet.client.mine({ blocks: 1 });
    await faucet().stack.start("api");
    // The claim belongs to the dead process until its wait would have ended.
    await expect.poll(async () => (await faucet().claim(claimant)).status).toBe(200);
    expect(await balancesOf(faucet(), claimant.wallet)).toEqual(GRANT);
    expect(await countTransfersTo(faucet(), claimant.wallet)).toBe(2);
  });
}

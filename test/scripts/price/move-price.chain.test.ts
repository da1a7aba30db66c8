/** Moving a price on a local chain: three rounds with rising times, which pay a policy whose trigger they pass. */
import { beforeAll, expect, test } from "vitest";
import { openWallet, type Wallet } from "../../../scripts/dev/running-stack.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { changedPrice } from "../../../scripts/price/arguments.ts";
import { movePrice, newestRound } from "../../../scripts/price/move-price.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import * as act from "../../support/protocol-actions.ts";

let chain: TestChain;
let wallet: Wallet;
beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  wallet = openWallet(chain.url, chain.owner);
});

test("a fall of 7 % in three rounds pays a policy with a trigger at 6 %, and the price stays", async () => {
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const { btcUsdFeed, coverRouter } = chain.deployment.contracts;
  const product = termsOf("FLASHBTC24-001");
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 1_000_000_000n);
  await act.approveUsdc(protocol, chain.owner, coverRouter);
  await act.refreshFeeds(protocol, chain.owner);
  const { policyId } = await act.purchase(protocol, chain.owner, product, 100_000_000n);

  const before = await newestRound(wallet, btcUsdFeed);
  const price = changedPrice(before.price, { kind: "relative", hundredths: -700n });
  const rounds = await movePrice(wallet, btcUsdFeed, price);
  expect(rounds.map((round) => round.price)).toEqual([price, price, price]);
  expect(rounds.map(({ roundId }) => roundId - before.roundId)).toEqual([1n, 2n, 3n]);
  const times = [before, ...rounds].map(({ updatedAt }) => updatedAt);
  expect(new Set(times).size).toBe(4);
  expect(times).toEqual([...times].sort((a, b) => Number(a - b)));

  const [first = 0n, second = 0n, third = 0n] = rounds.map(({ roundId }) => roundId);
  const proof = act.oracleProof([first, second, third]);
  const paid = await act.submitTrigger(protocol, chain.owner, product, policyId, proof);
  expect(paid).toMatchObject({ usdAmount: 80n, holder: chain.owner.address });
  await act.refreshFeeds(protocol, chain.owner); // as the dev stack does
  expect((await newestRound(wallet, btcUsdFeed)).price).toBe(price);
});

test("a feed that takes no rounds, as those of a fork, is named", async () => {
  const { sequencerFeed } = chain.deployment.contracts;
  await expect(movePrice(wallet, sequencerFeed, 1n)).rejects.toThrow(
    `The feed ${sequencerFeed} takes no price from us`,
  );
});

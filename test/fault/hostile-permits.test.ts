/**
 * Contract wallets whose permits tell a simulation from a block: there they burn all gas. What this proves, from chain and ledger: a
 * hundred of them cost a tenth of the day's budget at most, with the most that they might cost; each permit goes alone, with a fixed
 * limit; others buy meanwhile, also by the agent that buys for these contracts; and one contract cannot go on for ever.
 */
import { randomUUID } from "node:crypto";
import { type Address, type Hex, type LocalAccount, maxUint256, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { MAX_PERMIT_GAS } from "../../lib/chain/permit.ts";
import { lower } from "../../lib/lower.ts";
import { mintUsdc, openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { newBuyer, policiesOnChain, purchaseRequest, usdc } from "../support/ledger.ts";
import { signPermit } from "../support/permit.ts";
import { compile } from "../support/solidity.ts";
import { VALUE } from "./support/permit-purchases.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

/** Simulations have no price of gas, and sent transactions have. */
const { runtime } = compile(
  `contract Liar {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
      if (tx.gasprice > 0) assembly { invalid() }
      return 0x1626ba7e;
    }
  }`,
  "Liar",
);
const HOSTILE = 100;
/** The writer's budget of a day, in ether: a tenth of it pays for a few hostile permits. */
const BUDGET = "0.05";

let setup: WriterSetup;
beforeAll(async () => {
  setup = await startWriterSetup({ GAS_BUDGET_ETH: BUDGET, GAS_BUDGET_PER_WALLET_ETH: BUDGET });
});

const newAddress = (): Address => privateKeyToAccount(generatePrivateKey()).address;

async function newLiar({ chain }: WriterSetup): Promise<Address> {
  const address = newAddress();
  await chain.client.setCode({ address, bytecode: runtime });
  await mintUsdc(openProtocol(chain.deployment, chain.url), chain.owner, address, usdc(10));
  return address;
}

/** The buyer has delegated to the agent. */
async function delegate({ chain, ledger }: WriterSetup, buyer: Address, agent: Address): Promise<void> {
  const { chainId, contracts } = chain.deployment;
  const digest: Hex = `0x${randomUUID().replaceAll("-", "").repeat(2)}`;
  await ledger.connection.sql`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (${chainId}, ${lower(contracts.coverRouter)}, ${lower(buyer)}, ${lower(agent)}, 1000000000, now() + interval '1 hour', 0,
      ${digest})`;
}

/** Buys 100 USDC for a contract by an agent, with a permit that anybody could sign for it. @returns the purchase's id. */
async function buyFor({ ledger }: WriterSetup, buyer: Address, agent: Address): Promise<string> {
  const permit = { value: VALUE, deadline: maxUint256, signature: "0x1234" } as const;
  return ledger.buy(purchaseRequest(buyer), randomUUID(), undefined, permit, agent);
}

/** A relayed purchase with a permit, from its acceptance to its policy. */
async function expectBought({ chain, ledger }: WriterSetup, buyer: LocalAccount, agent?: Address) {
  const permit = await signPermit(chain, buyer, { value: VALUE });
  const id = await ledger.buy(purchaseRequest(buyer.address), randomUUID(), undefined, permit, agent);
  expect(await ledger.settled(id)).toMatchObject({ receipt: { policyId: expect.any(BigInt) } });
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
}

/** What counts for the day, in wei: in all, and for calls that run strangers' code. */
async function spentToday({ ledger }: WriterSetup): Promise<{ all: bigint; ofCode: bigint }> {
  const rows = await ledger.connection.sql<{ wallet: string; wei: string }[]>`
    select wallet, sum(wei) as wei from service.gas_day where wallet in ('', ':code') group by 1`;
  const of = (wallet: string) => BigInt(rows.find((row) => row.wallet === wallet)?.wei ?? 0);
  return { all: of(""), ofCode: of(":code") };
}

test("one contract's permit burns its gas three times, by three agents: then nobody can buy for it for an hour", async () => {
  const { ledger } = setup;
  const liar = await newLiar(setup);
  for (let n = 0; n < 3; n += 1) {
    const agent = newAddress();
    await delegate(setup, liar, agent);
    const purchase = await ledger.settled(await buyFor(setup, liar, agent));
    expect(purchase).toMatchObject({ state: "failed", code: "onchain_revert", txHash: null });
  }
  const agent = newAddress();
  await delegate(setup, liar, agent);
  await expect(buyFor(setup, liar, agent)).rejects.toThrow("refused");
  const [pause] = await ledger.connection.sql<{ minutes: number }[]>`
    select extract(epoch from service.paused_until(${lower(liar)}) - now())::float8 / 60 as minutes`;
  expect(pause?.minutes).toBeGreaterThan(50);
  const permits = await ledger.connection.sql<{ limit: string; outcome: string }[]>`
    select gas_limit as "limit", outcome from service.transaction where runs_code_of = ${lower(liar)} order by nonce`;
  const alone = { limit: String(MAX_PERMIT_GAS), outcome: "reverted" };
  expect(permits).toEqual([alone, alone, alone]);
});

test("a hundred such contracts with one agent: nine tenths of the budget are left, and the agent buys for an honest buyer", async () => {
  const { chain, ledger } = setup;
  const honest = await newBuyer(chain, { approve: false });
  const agent = newAddress();
  await delegate(setup, honest.address, agent);
  const liars: Address[] = [];
  for (let n = 0; n < HOSTILE; n += 1) {
    const liar = await newLiar(setup);
    await delegate(setup, liar, agent);
    liars.push(liar);
  }
  const ids = await Promise.all(liars.map((liar) => buyFor(setup, liar, agent)));
  await expectBought(setup, honest, agent);
  await expectBought(setup, await newBuyer(chain, { approve: false }));
  const purchases = await Promise.all(ids.map((id) => ledger.settled(id)));
  const codes = new Set(purchases.map((one) => (one.state === "failed" ? one.code : one.state)));
  // On a slow machine the last ones may wait for longer than a purchase may.
  codes.delete("purchase_expired");
  expect([...codes].sort()).toEqual(["gas_budget_exceeded", "onchain_revert"]);
  const { all, ofCode } = await spentToday(setup);
  expect(ofCode).toBeGreaterThan(0n);
  expect(ofCode).toBeLessThanOrEqual(parseEther(BUDGET) / 10n);
  expect(all - ofCode).toBeLessThan(parseEther(BUDGET) / 10n);
  const bought = await ledger.connection.sql`
    select from service.transaction where payer = any(${liars.map(lower)}::text[]) and kind = 'purchase'`;
  expect(bought).toHaveLength(0);
});

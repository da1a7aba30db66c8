/**
 * The upkeep of the sandbox's wallet: the service gives it what it lacks, reports in the info what prevents that, and
 * recovers without help once the cause is gone.
 */
import {
  type Address,
  concat,
  erc20Abi,
  type Hex,
  keccak256,
  maxUint256,
  pad,
  parseUnits,
  toHex,
} from "viem";
import { beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { failure, messageOf } from "../api/support/api.ts";
import { boughtOf, type Info, startSandbox, type TestSandbox } from "../api/support/sandbox.ts";
import { holdFaucet, signServiceTransactions } from "../support/service-transactions.ts";

const { sandbox: wallet, relayer } = serviceWallets;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});

const usdc = () => sandbox.testnet.deployment.contracts.usdc;
const router = () => sandbox.testnet.deployment.contracts.coverRouter;

/** ServiceTransactions of the upkeep so far, by purpose and state. */
async function serviceTransactions(): Promise<Record<string, number>> {
  const rows = await sandbox.connection.sql<{ key: string; count: number }[]>`
    select purpose || ' ' || state as key, count(*)::int from service.service_transaction_progress group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}

/** Writes a word of the token's storage: a balance must change without a transaction of the wallet. */
async function write(slot: Hex, amount: bigint): Promise<void> {
  const { client } = sandbox.testnet;
  await client.setStorageAt({ address: usdc(), index: slot, value: toHex(amount, { size: 32 }) });
  await client.mine({ blocks: 1 });
}

/** The storage slot of `key` in a mapping of the token. */
const slotOf = (key: Address, mapping: Hex): Hex => keccak256(concat([pad(key), mapping]));
const balances = toHex(0, { size: 32 });
const allowances = toHex(1, { size: 32 });

/** Sets the wallet's balance. */
const setUsdc = (dollars: number) => write(slotOf(wallet.address, balances), parseUnits(String(dollars), 6));
/** Sets the cover router's allowance, 6 decimals. */
const setAllowance = (amount: bigint) => write(slotOf(router(), slotOf(wallet.address, allowances)), amount);
const setEther = (address: Address, value: bigint) => sandbox.testnet.client.setBalance({ address, value });

/** Waits until the wallet has USDC again on the chain; the info follows some seconds later. */
const refilled = () =>
  expect
    .poll(() =>
      sandbox.testnet.client.readContract({
        address: usdc(),
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [wallet.address],
      }),
    )
    .toBeGreaterThanOrEqual(parseUnits("100000", 6));

const readAllowance = () =>
  sandbox.testnet.client.readContract({
    address: usdc(),
    abi: erc20Abi,
    functionName: "allowance",
    args: [wallet.address, router()],
  });

/** The sandbox is unready for a reason with these words. */
const unready =
  (...words: string[]) =>
  ({ status, reason }: Info) =>
    status === "unready" && words.every((word) => reason?.includes(word));

/** Runs `work` while every mint reverts, because the contract has no function with its selector. */
async function withoutMint(work: () => Promise<void>): Promise<void> {
  const { client } = sandbox.testnet;
  const code = (await client.getCode({ address: usdc() })) ?? "0x";
  const crippled: Hex = `0x${code.slice(2).replace("806340c10f1914", "8063ffffffff14")}`;
  expect(crippled).not.toBe(code);
  await client.setCode({ address: usdc(), bytecode: crippled });
  try {
    await work();
  } finally {
    await client.setCode({ address: usdc(), bytecode: code });
  }
}

test("an empty wallet gets USDC and ether, approves, and buys; each once", async () => {
  const { funds } = await sandbox.until();
  expect(funds).toMatchObject({ usdc: "100000000000", allowance: String(maxUint256) });
  boughtOf(await sandbox.buy());
  expect(Object.keys(await serviceTransactions()).map((key) => key.split(" ")[0])).toEqual([
    "sandbox_approval",
    "sandbox_ether",
    "sandbox_usdc",
  ]);
  expect(Object.values(await serviceTransactions())).toEqual([1, 1, 1]);
});

test("a wallet without USDC is soon refilled, also with open upkeep of a wallet whose key was removed", async () => {
  const { connection } = sandbox;
  const { sql } = connection;
  const gone = `0x${"9".repeat(40)}` as const;
  const lease = await holdFaucet(sql, 84532, gone);
  const rows = await sql<{ id: string }[]>`
    insert into service.service_transaction (chain_id, sender, purpose, "to", data, value)
    select 84532, ${gone}, purpose, ${usdc().toLowerCase()}, '0x', 0
    from unnest(array['sandbox_usdc', 'sandbox_approval', 'sandbox_ether']) purpose returning id`;
  await signServiceTransactions(
    sql,
    lease,
    rows.map(({ id }) => id),
  );
  await sql`
    update service.relayer_wallet set heartbeat_at = now() - interval '2 hours', lease_until = now() where address = ${gone}`;
  await setUsdc(1);
  await refilled();
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("a revoked approval is renewed", async () => {
  const approvals = async () =>
    (
      await sandbox.connection
        .sql`select 1 from service.service_transaction_progress where purpose = 'sandbox_approval'`
    ).length;
  const before = await approvals();
  await setAllowance(5n);
  await expect.poll(approvals).toBe(before + 1);
  await expect.poll(readAllowance).toBe(maxUint256);
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("while minting fails the info has a warning, then the reason why it cannot buy; then it recovers", async () => {
  await withoutMint(async () => {
    await setUsdc(5000);
    const warning = "Minting USDC for it failed: The transfer would revert";
    await sandbox.until(({ status, reason }) => status === "ready" && reason?.includes(warning) === true);
    boughtOf(await sandbox.buy());
    await setUsdc(19);
    const shortage = "USDC, which is too little for a premium.";
    const { reason } = await sandbox.until(unready(shortage, "Minting USDC for it failed"));
    const answer = await sandbox.buy();
    expect(failure(answer)).toEqual([503, "sandbox_unready"]);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(messageOf(answer)).toBe(reason);
  });
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("while the relayer lacks ether a wallet cannot buy and reports why, filled or empty; with ether again it can", async () => {
  const { client } = sandbox.testnet;
  const ether = await client.getBalance({ address: relayer.address });
  await setEther(relayer.address, 1000n);
  const poor = `The relayer ${relayer.address} has 0.000000000000001 ETH and needs 0.`;
  await sandbox.until(unready(poor));
  expect(failure(await sandbox.buy())).toEqual([503, "sandbox_unready"]);
  await setUsdc(0);
  await setAllowance(0n);
  await setEther(wallet.address, 0n);
  const empty = "The wallet has 0 USDC, which is too little for a premium. The cover router has no approval";
  const { reason } = await sandbox.until(unready(empty));
  expect(reason).toContain(poor);
  expect(failure(await sandbox.buy())).toEqual([503, "sandbox_unready"]);
  await setEther(relayer.address, ether);
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("once the day's gas budget is spent that is reported, and no service transaction begins", async () => {
  await sandbox.stack.stopService("writer");
  const unpaid = await startSandbox({
    chains: sandbox,
    env: { writer: { GAS_BUDGET_ETH: "0.000000000001" } },
  });
  const { reason } = await unpaid.until(unready("gas"));
  expect(reason).toBe("The gas that may be spent in a day (UTC) is spent.");
  expect(failure(await unpaid.buy())).toEqual([503, "sandbox_unready"]);
  expect(await unpaid.connection.sql`select 1 from service.service_transaction_progress`).toHaveLength(0);
});

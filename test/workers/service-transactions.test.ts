/** The writer sends each of the service's service transactions on the testnet once, and both transfers of a claim or neither. */
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, startTestnet, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { type Stack, startStack } from "../support/stack.ts";

let testnet: TestChain;
let stack: Stack;
let connection: Connection;

const faucet = serviceWallets.faucet.address.toLowerCase();
const grant = parseEther("0.05");
const dollars = 10_000_000_000n;

beforeAll(async () => {
  const [chain, other] = await Promise.all([startChain(), startTestnet()]);
  testnet = other;
  stack = await startStack({ chain, testnet, services: ["writer"] });
  connection = connect(stack.databaseUrl, { name: "test", max: 2 });
  atEnd(connection.close);
});

/** Records a claim as the API does; returns its id. */
async function claim(wallet: Address, age = "0 s"): Promise<string> {
  const { sql } = connection;
  const { usdc } = testnet.deployment.contracts;
  const mint = encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [wallet, dollars] });
  const rows = await sql<{ id: string }[]>`
    with made as (
      insert into service.faucet_claim (chain_id, faucet, wallet, client, awaited_until)
      values (84532, ${faucet}, ${wallet.toLowerCase()}, '192.0.2.1', now()) returning id
    ), slots as (
      insert into service.faucet_slot (chain_id, kind, subject, claim_id, until)
      select 84532, 'wallet', ${wallet.toLowerCase()}, id, now() + interval '24 hours' from made
    ), counted as (
      insert into service.faucet_day as d (chain_id, day, claims)
      values (84532, (now() at time zone 'utc')::date, 1)
      on conflict (chain_id, day) do update set claims = d.claims + 1
    ), service_transactions as (
      insert into service.service_transaction (chain_id, sender, purpose, claim_id, "to", data, value, created_at)
      select 84532, ${faucet}, purpose, id, target, data, value::numeric, now() - ${age}::interval from made,
        (values ('faucet_ether', ${wallet.toLowerCase()}::text, '0x', ${String(grant)}),
          ('faucet_usdc', ${usdc.toLowerCase()}, ${mint}, '0')) as e (purpose, target, data, value)
    )
    select id from made`;
  const [row] = rows;
  if (!row) throw new Error("no claim");
  return row.id;
}

type ServiceTransaction = {
  purpose: string;
  state: string;
  hash: Hex | null;
  code: string | null;
  message: string | null;
};
const serviceTransactionsOf = (id: string) => connection.sql<ServiceTransaction[]>`
  select purpose, state, tx_hash as hash, failure_code as code, failure_message as message
  from service.service_transaction_progress where claim_id = ${id} order by purpose`;

const untilState = (id: string, ...states: string[]) =>
  waitFor({
    what: `the service transactions of ${id} to be ${states}`,
    probe: async () => {
      const serviceTransactions = await serviceTransactionsOf(id);
      return serviceTransactions.every(({ state }) => states.includes(state))
        ? serviceTransactions
        : undefined;
    },
  });

const usdcOf = (wallet: Address) =>
  testnet.client.readContract({
    address: testnet.deployment.contracts.usdc,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [wallet],
  });

async function freed(id: string): Promise<boolean> {
  const [row] = await connection.sql<{ freed: boolean; slots: number }[]>`
    select freed_at is not null as freed, (select count(*)::int from service.faucet_slot where claim_id = ${id}) as slots
    from service.faucet_claim where id = ${id}`;
  expect(row?.slots).toBe(row?.freed ? 0 : 1);
  return row?.freed ?? false;
}

test("both transfers of a claim are sent, and are final once their blocks lie deep enough", async () => {
  const wallet: Address = "0x00000000000000000000000000000000000fac01";
  const id = await claim(wallet);
  await untilState(id, "mined", "confirmed");
  expect(await testnet.client.getBalance({ address: wallet })).toBe(grant);
  expect(await usdcOf(wallet)).toBe(dollars);
  await testnet.client.mine({ blocks: 11 });
  await untilState(id, "confirmed");
  expect(await freed(id)).toBe(false);
});

test("concurrent claims are each paid once", async () => {
  const wallets = Array.from(
    { length: 20 },
    (_, n): Address => `0x00000000000000000000000000000000000fad${n.toString(16).padStart(2, "0")}`,
  );
  const ids = await Promise.all(wallets.map((wallet) => claim(wallet)));
  for (const id of ids) await untilState(id, "mined", "confirmed");
  for (const wallet of wallets) {
    expect(await testnet.client.getBalance({ address: wallet })).toBe(grant);
    expect(await usdcOf(wallet)).toBe(dollars);
  }
});

test("a wallet that rejects ether gets nothing, and its slots are free again", async () => {
  const wallet = testnet.deployment.contracts.usdc;
  const id = await claim(wallet);
  const [ether, usdc] = await untilState(id, "failed");
  expect(ether).toMatchObject({ code: "onchain_revert", hash: null });
  expect(ether?.message).toMatch(/takes no ether/);
  expect(usdc).toMatchObject({ code: "onchain_revert", hash: null });
  expect(await freed(id)).toBe(true);
  expect(await usdcOf(wallet)).toBe(0n);
});

test("a contract that burns gas when it gets ether gets none", async () => {
  const wallet: Address = "0x00000000000000000000000000000000000fac02";
  // A loop that takes some 200,000 gas.
  await testnet.client.setCode({ address: wallet, bytecode: "0x60005b60010180611f4011600257" });
  const id = await claim(wallet);
  const [ether] = await untilState(id, "failed");
  expect(ether).toMatchObject({ code: "onchain_revert", hash: null });
  expect(await freed(id)).toBe(true);
  expect(await testnet.client.getBalance({ address: wallet })).toBe(0n);
});

test("a claim that was not signed within a minute is given up, and its slots are free again", async () => {
  const wallet: Address = "0x00000000000000000000000000000000000fae01";
  const id = await claim(wallet, "61 seconds");
  const [ether] = await untilState(id, "failed");
  expect(ether).toMatchObject({ code: "claim_expired", hash: null });
  expect(await freed(id)).toBe(true);
  expect(await testnet.client.getBalance({ address: wallet })).toBe(0n);
});

test("a faucet without enough ether signs nothing, and reports why", async () => {
  const wallet: Address = "0x00000000000000000000000000000000000faf01";
  const { address } = serviceWallets.faucet;
  const balance = await testnet.client.getBalance({ address });
  await testnet.client.setBalance({ address, value: grant });
  const id = await claim(wallet, "50 seconds");
  const [ether, usdc] = await untilState(id, "failed");
  expect(ether).toMatchObject({ code: "out_of_eth", hash: null });
  expect(usdc).toMatchObject({ code: "out_of_eth", hash: null });
  expect(await freed(id)).toBe(true);
  await testnet.client.setBalance({ address, value: balance });
  const again = await claim(wallet);
  await untilState(again, "mined", "confirmed");
  expect(await testnet.client.getBalance({ address: wallet })).toBe(grant);
});

test("a claim that exceeds the day's gas budget is given up at once, not after a minute", async () => {
  const wallet: Address = "0x00000000000000000000000000000000000faf02";
  const spend = (wei: bigint) => connection.sql`
    insert into service.gas_day as g (chain_id, day, wallet, sender, wei)
    values (84532, (now() at time zone 'utc')::date, '', '', ${String(wei)})
    on conflict (chain_id, day, wallet, sender) do update set wei = g.wei + excluded.wei`;
  await spend(10n ** 24n);
  const id = await claim(wallet);
  const [ether, usdc] = await untilState(id, "failed");
  expect(ether).toMatchObject({ code: "relayer_unavailable", hash: null });
  expect(ether?.message).toBe("The gas that may be spent in a day (UTC) is spent. Nothing was sent.");
  expect(usdc).toMatchObject({ code: "relayer_unavailable", hash: null });
  expect(await freed(id)).toBe(true);
  await spend(-(10n ** 24n));
  await untilState(await claim(wallet), "mined", "confirmed");
  expect(await testnet.client.getBalance({ address: wallet })).toBe(grant);
});

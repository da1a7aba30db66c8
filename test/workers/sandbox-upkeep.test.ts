/**
 * The sandbox's wallet provides for itself: whatever it lacks it is given, what keeps it from that stands in the info, and
 * once that is mended it comes back without anybody's help.
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
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { failure, messageOf } from "../api/support/api.ts";
import { boughtOf, type Info, startSandbox, type TestSandbox } from "../api/support/sandbox.ts";

const { sandbox: wallet, relayer } = serviceWallets;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});

const usdc = () => sandbox.testnet.deployment.contracts.usdc;
const router = () => sandbox.testnet.deployment.contracts.coverRouter;

/** Errands of the upkeep so far, by purpose and state. */
async function errands(): Promise<Record<string, number>> {
  const rows = await sandbox.connection.sql<{ key: string; count: number }[]>`
    select purpose || ' ' || state as key, count(*)::int from service.errand group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}

/** Writes a word of the token's storage: what the wallet has must change without a transaction of its own. */
async function write(slot: Hex, amount: bigint): Promise<void> {
  const { client } = sandbox.testnet;
  await client.setStorageAt({ address: usdc(), index: slot, value: toHex(amount, { size: 32 }) });
  await client.mine({ blocks: 1 });
}

/** Where a mapping of the token keeps what is of `key`. */
const slotOf = (key: Address, mapping: Hex): Hex => keccak256(concat([pad(key), mapping]));
const balances = toHex(0, { size: 32 });
const allowances = toHex(1, { size: 32 });

/** Sets what the wallet has. */
const setUsdc = (dollars: number) => write(slotOf(wallet.address, balances), parseUnits(String(dollars), 6));
/** Sets what the cover router may take of it, 6 decimals. */
const setAllowance = (amount: bigint) => write(slotOf(router(), slotOf(wallet.address, allowances)), amount);
const setEther = (address: Address, value: bigint) => sandbox.testnet.client.setBalance({ address, value });

/** Waits until the chain shows that the wallet was given USDC; the info follows some seconds later. */
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

const unready = ({ status }: Info) => status === "unready";

/** Runs `work` while no mint succeeds: the function is not found under its name. */
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

test("from nothing: it is given USDC and ether, approves, and buys; once each", async () => {
  const { funds } = await sandbox.until();
  expect(funds).toMatchObject({ usdc: "100000000000", allowance: String(maxUint256) });
  boughtOf(await sandbox.buy());
  expect(Object.keys(await errands()).map((key) => key.split(" ")[0])).toEqual([
    "sandbox_approval",
    "sandbox_ether",
    "sandbox_usdc",
  ]);
  expect(Object.values(await errands())).toEqual([1, 1, 1]);
});

test("when its USDC runs low it is given more, and buys all the while", async () => {
  await setUsdc(9000);
  boughtOf(await sandbox.buy());
  await refilled();
  boughtOf(await sandbox.buy());
});

test("when its USDC is gone it is back in a moment", async () => {
  await setUsdc(1);
  await refilled();
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("what a wallet has left undone whose key is gone keeps nobody waiting", async () => {
  const { connection } = sandbox;
  const gone = `0x${"9".repeat(40)}`;
  await connection.sql`
    insert into service.errand (chain_id, sender, purpose, "to", data, value, state, tx_hash)
    select 84532, ${gone}, purpose, ${usdc().toLowerCase()}, '0x', 0, 'broadcast', ${`0x${"9".repeat(64)}`}
    from unnest(array['sandbox_usdc', 'sandbox_approval', 'sandbox_ether']) purpose`;
  await setUsdc(1);
  await refilled();
  await sandbox.until();
});

test("an approval that was taken back is renewed", async () => {
  await setAllowance(5n);
  await sandbox.until(({ funds }) => funds?.allowance === "5");
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("while minting is refused it says so, first as a warning, then as a reason; then it mends itself", async () => {
  await withoutMint(async () => {
    await setUsdc(5000);
    const warned = await sandbox.until(({ reason }) => reason !== null);
    expect(warned).toMatchObject({ enabled: true, status: "ready" });
    expect(warned.reason).toContain("Minting USDC for it failed: The transfer would revert");
    boughtOf(await sandbox.buy());
    await setUsdc(19);
    const { reason } = await sandbox.until(unready);
    expect(reason).toContain("USDC, which is too little for a premium.");
    expect(reason).toContain("Minting USDC for it failed");
    const answer = await sandbox.buy();
    expect(failure(answer)).toEqual([503, "sandbox_unready"]);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect(messageOf(answer)).toBe(reason);
  });
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test.each([
  ["that lacks nothing", async () => {}, "needs 0."],
  [
    "that has nothing at all",
    async () => {
      await setUsdc(0);
      await setAllowance(0n);
      await setEther(wallet.address, 0n);
    },
    "The wallet has 0 USDC, which is too little for a premium. The cover router has no approval",
  ],
])(
  "without ether of the relayer a wallet %s buys nothing and says why; with ether again it does",
  async (_, make, words) => {
    const { client } = sandbox.testnet;
    const ether = await client.getBalance({ address: relayer.address });
    await setEther(relayer.address, 1000n);
    await make();
    const { reason } = await sandbox.until((info) => unready(info) && (info.reason ?? "").includes(words));
    expect(reason).toContain(`The relayer ${relayer.address} has 0.000000000000001 ETH and needs 0.`);
    expect(failure(await sandbox.buy())).toEqual([503, "sandbox_unready"]);
    await setEther(relayer.address, ether);
    await sandbox.until();
    boughtOf(await sandbox.buy());
  },
);

test("when the gas of the day is spent it says so, and nothing is begun", async () => {
  await sandbox.stack.stopService("writer");
  const poor = await startSandbox({ chains: sandbox, env: { writer: { GAS_BUDGET_ETH: "0.000000000001" } } });
  const { reason } = await poor.until(unready);
  expect(reason).toBe("The gas that may be spent in a day (UTC) is spent.");
  expect(failure(await poor.buy())).toEqual([503, "sandbox_unready"]);
  expect(await poor.connection.sql`select 1 from service.errand`).toHaveLength(0);
});

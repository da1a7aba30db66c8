/** The expected rows from the chain's logs, read without Ponder: one row for each log of an indexed contract. */
import { type Abi, type Address, type Log, parseEventLogs, stringToHex, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import type { ContractKey, Deployment, OptionalContractKey } from "../../../lib/deployments.ts";
import type { TestClient } from "../../support/chain.ts";

type Key = ContractKey | OptionalContractKey;
const indexed: readonly (readonly [Key, Abi])[] = [
  ["coverRouter", coverRouterAbi],
  ["policyManager", policyManagerAbi],
  ["bondVault", bondVaultAbi],
  ["claimBond", claimBondAbi],
  ["marketplace", bondMarketplaceAbi],
  ["twapBurner", twapBurnerAbi],
  ["buybackEngine", buybackEngineAbi],
  ["shieldKeeper", shieldKeeperAbi],
  ["pauseRegistry", globalPauseRegistryAbi],
  ["protocolToken", protocolTokenAbi],
];

/** A contract of `address`, by the name of the index. */
type Source = { readonly contract: string; readonly abi: Abi; readonly address: Address };

/** The indexed contracts: those of the deployment, the price oracle, and the adapters that were ever registered, with their shields. */
async function sourcesOf(client: TestClient, { contracts }: Deployment): Promise<Source[]> {
  const registrations = await client.getContractEvents({
    ...{ abi: policyManagerAbi, address: contracts.policyManager, eventName: "ProductRegistered" },
    ...{ fromBlock: 0n, strict: true },
  });
  const adapters = [...new Set(registrations.map(({ args }) => args.shield))];
  const shields = await Promise.all(
    adapters.map((address) =>
      client.readContract({ abi: shieldAdapterAbi, address, functionName: "shield" }),
    ),
  );
  const priceOracle = await client.readContract({
    ...{ abi: bondVaultAbi, address: contracts.bondVault, functionName: "priceOracle" },
  });
  return [
    { contract: "priceOracle", abi: priceOracleAbi, address: priceOracle },
    ...indexed.flatMap(([contract, abi]) => {
      const address = contracts[contract];
      return address === undefined ? [] : [{ contract, abi, address }];
    }),
    ...adapters.map((address) => ({ contract: "shieldAdapter", abi: shieldAdapterAbi, address })),
    ...shields.map((address) => ({ contract: "shield", abi: flashShieldAbi, address })),
  ];
}

export type Arguments = Readonly<Record<string, unknown>>;
/** A decoded log, with arguments in the format of the rows: integers as text, hex in lower case. */
export type ChainEvent = {
  readonly contract: string;
  readonly name: string;
  readonly args: Arguments;
  readonly address: string;
  /** Who sent the transaction. */
  readonly sender: string;
  readonly position: {
    readonly block_number: string;
    readonly log_index: number;
    readonly block_hash: string;
    readonly block_timestamp: string;
    readonly tx_hash: string;
  };
};

type Place = { readonly block_number?: unknown; readonly log_index?: unknown };
const place = ({ block_number, log_index }: Place) => Number(block_number) * 1e5 + Number(log_index);
/** Whether a log precedes another. */
export const isBefore = (a: Place, b: Place): boolean => place(a) < place(b);

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.startsWith("0x") ? value.toLowerCase() : value;
  return value;
}

type Times = ReadonlyMap<bigint, bigint>;
type Senders = ReadonlyMap<string, Address>;

function decode(contract: string, abi: Abi, logs: Log[], times: Times, senders: Senders) {
  return parseEventLogs({ abi, logs }).map((log): ChainEvent => {
    const args: object = log.args ?? {};
    return {
      contract,
      name: log.eventName,
      args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, plain(value)])),
      address: log.address.toLowerCase(),
      sender: String(senders.get(String(log.transactionHash))).toLowerCase(),
      position: {
        block_number: String(log.blockNumber),
        log_index: Number(log.logIndex),
        block_hash: String(log.blockHash),
        block_timestamp: String(times.get(log.blockNumber ?? -1n)),
        tx_hash: String(log.transactionHash),
      },
    };
  });
}

/** Every event of the indexed contracts, in chain order. */
export async function chainEvents(
  client: TestClient,
  deployment: Deployment,
): Promise<readonly ChainEvent[]> {
  const range = { fromBlock: BigInt(deployment.startBlock), toBlock: "latest" } as const;
  const sources = await sourcesOf(client, deployment);
  const logs = await client.getLogs({ address: sources.map(({ address }) => address), ...range });
  const times = new Map<bigint, bigint>();
  const senders = new Map<string, Address>();
  for (const blockNumber of new Set(logs.map((log) => log.blockNumber))) {
    const block = await client.getBlock({ blockNumber, includeTransactions: true });
    times.set(blockNumber, block.timestamp);
    for (const { hash, from } of block.transactions) senders.set(hash, from);
  }
  return sources
    .flatMap(({ contract, abi, address }) => {
      const own = logs.filter((log) => log.address.toLowerCase() === address.toLowerCase());
      return decode(contract, abi, own, times, senders);
    })
    .filter(({ contract, name, args }) => {
      if (contract === "protocolToken" && name === "Transfer") return args.to === zeroAddress;
      return name !== "ApprovalForAll" && name !== "Approval";
    })
    .sort((a, b) => (isBefore(a.position, b.position) ? -1 : 1));
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const same = (args: Arguments) =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [snake(name), value]));
const without = (args: Arguments, ...names: string[]) =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));

/** A price of the burner, USDC with 6 decimals, in USD with 18. */
export const burnPriceOf = (effectivePrice: unknown): bigint => BigInt(String(effectivePrice)) * 10n ** 12n;

type ToRow = (
  event: ChainEvent,
  all: readonly ChainEvent[],
) => readonly [table: string, columns: Arguments] | undefined;

const RESET = stringToHex("RESET", { size: 32 });
const WINDOW_EXPIRED = stringToHex("WINDOW_EXPIRED", { size: 32 });

/** The manager's sale of the policy that a shield's log is about; undefined once the policy's key has come again. */
function saleOf({ address, args: { policyId }, position }: ChainEvent, all: readonly ChainEvent[]) {
  const created = all.filter(({ name, args }) => name === "PolicyCreated" && args.policyId === policyId);
  const before = created.filter((other) => isBefore(other.position, position));
  const opened = before.findLast((other) => other.address === address);
  const sale = created.find(
    (other) => other.contract === "policyManager" && opened && isBefore(opened.position, other.position),
  );
  const newest = before.findLast(({ args }) => args.productId === sale?.args.productId);
  return sale === newest ? sale : undefined;
}

const productEvent =
  (kind: string): ToRow =>
  ({ args }) => [
    "product_event",
    { product_id: args.productId, kind, args: textual(without(args, "productId")) },
  ];
/** The vault's dollars have 18 decimals, USDC 6, bonds none. */
const [USDC, DOLLARS, TOKENS] = [10n ** 12n, 10n ** 18n, 1n];
const scaled = (value: unknown, unit: bigint) => String(BigInt(String(value)) / unit);
const vaultEvent =
  (kind: string, unit: bigint): ToRow =>
  ({ args }) => [
    "vault_event",
    {
      kind,
      amount: scaled(args.amount, unit),
      new_total: scaled(args.newTotalReserved ?? args.newTotal ?? args.newBalance, unit),
      caller: args.caller ?? null,
    },
  ];
const supply =
  (kind: string, holder: string, amount: string): ToRow =>
  ({ args }) => [
    "bond_supply_event",
    { kind, epoch_id: args.epochId, holder: args[holder] ?? null, amount: args[amount] },
  ];
const pause =
  (scope: string, paused?: boolean): ToRow =>
  ({ args }) => [
    "pause_event",
    { scope, paused: paused ?? args.state ?? args.paused, by: args.by ?? null, price: args.priceWei ?? null },
  ];
const as =
  (table: string, columns: (args: Arguments) => Arguments = same): ToRow =>
  ({ args }) => [table, columns(args)];
const proceeds =
  (kind: string): ToRow =>
  ({ args }) => ["proceeds_event", { kind, ...same(args) }];
const admin: ToRow = ({ contract, name, address, args }) => [
  "admin_event",
  { contract, event: name, address, args: textual(args) },
];
/** Arguments in JSON: numbers as text. */
const textual = (args: Arguments) =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "number" ? String(value) : value]),
  );

const rowOf: Readonly<Record<string, ToRow>> = {
  PolicyPurchased: as("policy"),
  ProductConfigured: productEvent("configured"),
  ProductRegistered: productEvent("registered"),
  ProductDeactivated: productEvent("deactivated"),
  ProductRemoved: productEvent("removed"),
  Paused: pause("router"),
  AutoPauseActivated: pause("auto", true),
  AutoPauseDeactivated: pause("auto", false),
  GlobalPauseToggled: pause("global"),
  RelayerUpdated: (event) => (event.contract === "coverRouter" ? as("relayer_event") : admin)(event, []),
  PolicyVerified: (event, all) => {
    const { reason, dropBps: drop_bps, policyId: policy_id } = event.args;
    const sold = saleOf(event, all);
    if (!sold || reason === WINDOW_EXPIRED) return undefined;
    const observed = all.find(
      ({ name, position: { block_number, log_index } }) =>
        name === "ConfirmationObserved" &&
        block_number === event.position.block_number &&
        log_index === event.position.log_index - 1,
    );
    const count = reason === RESET ? 0 : observed?.args.count;
    return ["policy_observation", { product_id: sold.args.productId, policy_id, reason, drop_bps, count }];
  },
  PolicyTriggered: ({ args, position, sender }, all) => {
    const submitted = all.find(
      (event) =>
        event.name === "TriggerSubmitted" &&
        event.position.tx_hash === position.tx_hash &&
        event.args.productId === args.productId &&
        event.args.policyId === args.policyId,
    );
    return ["policy_trigger", { ...same(args), submitter: submitted?.args.submitter ?? sender }];
  },
  PolicyExpired: as("policy_closing"),
  BondIssued: as("bond_issue", ({ to, ...args }) => ({ holder: to, ...same(args) })),
  BondRedeemed: as("bond_redemption", ({ luminaAmount, ...args }) => ({
    ...same(args),
    token_amount: luminaAmount,
  })),
  BondQueued: as("redemption_queue", ({ epochIdBond, targetThrottleEpoch, ...args }) => ({
    ...same(args),
    epoch_id: epochIdBond,
    target_epoch: targetThrottleEpoch,
  })),
  CapacityReserved: vaultEvent("reserved", USDC),
  ReservationCommitted: vaultEvent("committed", USDC),
  ReservationReleased: vaultEvent("released", USDC),
  ObligationsDecreased: vaultEvent("obligations_decreased", DOLLARS),
  ReservesBurned: vaultEvent("reserves_burned", TOKENS),
  TransferSingle: as("bond_transfer", ({ id, value, ...args }) => ({
    ...same(args),
    epoch_id: id,
    amount: value,
    item: 0,
  })),
  BondsMinted: supply("minted", "to", "usdAmount"),
  BondsBurned: supply("burned", "from", "usdAmount"),
  BondsBurnedByHolder: supply("surrendered", "holder", "amount"),
  EpochCreated: supply("epoch_created", "", "maturityDate"),
  Listed: as("listing", ({ priceUSDC, ...args }) => ({ ...same(args), price: priceUSDC })),
  Bought: as("sale", ({ priceUSDC, ...args }) => ({ ...same(args), price: priceUSDC })),
  Cancelled: as("listing_cancellation"),
  WithdrawalCredited: proceeds("credited"),
  Withdrawn: proceeds("withdrawn"),
  BurnExecuted: as("burn_execution", ({ timestamp, effectivePrice, ...args }) => ({
    ...same(args),
    executed_at: timestamp,
    effective_price: String(burnPriceOf(effectivePrice)),
  })),
  PremiumReceived: ({ args: { from, amount } }, events) => {
    const router = events.find(({ contract }) => contract === "coverRouter")?.address;
    return from === router ? ["burner_income", { from, usdc_amount: amount }] : undefined;
  },
  Transfer: as("token_burn", ({ from, value }) => ({ burner: from, token_amount: value })),
  KeeperUpdated: admin,
  KeeperPaused: admin,
  KeeperUnpaused: admin,
  OwnershipTransferred: admin,
  Upgraded: admin,
  Initialized: admin,
  AuthorizedCallerUpdated: admin,
  BondMaturityUpdated: admin,
  OperatorAuthorized: admin,
  MinPricePerUnitUpdated: admin,
  TwapBurnerUpdated: admin,
  ConfigUpdated: admin,
  ReservesUpdated: admin,
  AdaptiveModeUpdated: admin,
  RoleGranted: admin,
  RoleRevoked: admin,
  DailyBuybackConfigured: admin,
  CircuitBreakerTriggered: admin,
};

/** Events without a row: another event of the transaction has their values, or no row needs them. */
const withoutRow = [
  ...["PolicyCreated", "ConfirmationObserved", "TriggerSubmitted", "DoubleBurnExecuted", "OfferExecuted"],
  ...["QueueProcessed", "FloorPriceBreached", "PoliciesPausedSet"],
  ...["LegacyBurnExecuted", "AdaptiveDistributionExecuted", "ObligationsSyncSkipped"],
];
/** Events of adapters and keeper that the index does not read. */
const ignored = ["PolicySettled", "SettlementFailed"];

/** The policies whose key came again later. */
function replacedIn(events: readonly ChainEvent[]): ReadonlySet<ChainEvent> {
  const newest = new Map<string, ChainEvent>();
  const replaced = new Set<ChainEvent>();
  for (const event of events.filter(({ name }) => name === "PolicyPurchased")) {
    const key = `${event.args.productId} ${event.args.policyId}`;
    const older = newest.get(key);
    if (older) replaced.add(older);
    newest.set(key, event);
  }
  return replaced;
}

/** The expected rows of each table of events: the position and the arguments. */
export function expectedRows(events: readonly ChainEvent[]): ReadonlyMap<string, readonly Arguments[]> {
  const tables = new Map<string, Arguments[]>();
  const replaced = replacedIn(events);
  for (const event of events) {
    if (withoutRow.includes(event.name) || ignored.includes(event.name)) continue;
    const toRow = rowOf[event.name];
    if (toRow === undefined) throw new Error(`no expected row for ${event.contract}:${event.name}`);
    const row = toRow(event, events);
    if (row === undefined) continue;
    const [of, columns] = row;
    const table = replaced.has(event) ? "replaced_policy" : of;
    tables.set(table, [...(tables.get(table) ?? []), { ...event.position, ...columns }]);
  }
  return tables;
}

/** The names of all handled events, to test that a history contains each. */
export const knownEvents: readonly string[] = [...Object.keys(rowOf), ...withoutRow];

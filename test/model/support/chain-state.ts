/** The chain at its newest block: its logs, and its contracts' views. */
import { type Address, erc20Abi, getAddress, isAddress } from "viem";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import { type ChainEvent, chainEvents } from "../../src/support/logs.ts";
import { newestRounds, sequencer, sequencerEvents } from "../../src/support/oracle-views.ts";
import { queueOf } from "../../src/support/queue.ts";
import type { Row } from "../../src/support/rows.ts";
import * as views from "../../src/support/views.ts";
import type { TestChain } from "../../support/chain.ts";

export type ChainState = {
  readonly block: bigint;
  /** Timestamp of that block. */
  readonly now: bigint;
  readonly events: readonly ChainEvent[];
  readonly policies: readonly views.Policy[];
  readonly products: readonly Row[];
  /** The products of the catalogue that the router's own switch has on sale. */
  readonly activeAtRouter: ReadonlySet<unknown>;
  readonly listings: readonly Row[];
  /** The redemption queue and the vault's totals. */
  readonly vault: Awaited<ReturnType<typeof views.vault>>;
  /** Balances, including zeros, of every account that ever received bonds, by owner and epoch. */
  readonly balances: readonly Row[];
  /** Unix seconds by epoch. */
  readonly maturities: ReadonlyMap<string, string>;
  readonly tokenSupply: bigint;
  /** The newest round of each asset's feed. */
  readonly prices: readonly Row[];
  readonly sequencer: Row;
  /** The sequencer's statuses, the oldest first. */
  readonly sequencerEvents: readonly Row[];
  readonly throttle: Awaited<ReturnType<typeof views.throttle>>;
  /** The supply of each epoch's bonds. */
  readonly supplies: ReadonlyMap<string, bigint>;
  /** The burner contracts, with the USDC that each has. */
  readonly burners: readonly { readonly source: string; readonly address: Address; readonly usdc: bigint }[];
  readonly marketplace: Address;
  /** The router's address in lower case. */
  readonly router: Address;
  /** What each seller may withdraw from it, USDC with 6 decimals, by the address in lower case. */
  readonly proceeds: ReadonlyMap<string, string>;
};

export const big = (value: unknown): bigint => BigInt(String(value));

export const named = (events: readonly ChainEvent[], name: string): readonly ChainEvent[] =>
  events.filter((event) => event.name === name);

/** The bond that paid a triggered policy: of those of its transaction for the buyer the last one before it. */
export const bondOf = (events: readonly ChainEvent[], { position, args }: ChainEvent) =>
  named(events, "BondIssued").findLast(
    (bond) =>
      bond.position.tx_hash === position.tx_hash &&
      bond.position.log_index < position.log_index &&
      bond.args.to === args.buyer,
  );

/** Who submitted a trigger to the router, or sent the transaction that triggered the policy in another way. */
export const submitterOf = (events: readonly ChainEvent[], { position, args, sender }: ChainEvent): Address =>
  checksummed(
    named(events, "TriggerSubmitted").find(
      (other) =>
        other.position.tx_hash === position.tx_hash &&
        other.args.productId === args.productId &&
        other.args.policyId === args.policyId,
    )?.args.submitter ?? sender,
  );

/** An address in the API's format. */
export const checksummed = (value: unknown): Address => getAddress(String(value));

/** An address in lower case. */
function lower(value: unknown): Address {
  const text = String(value).toLowerCase();
  if (!isAddress(text)) throw new Error(`${text} is no address`);
  return text;
}

export async function readChainState({ client, deployment }: TestChain): Promise<ChainState> {
  const { number: block, timestamp: now } = await client.getBlock();
  const events = await chainEvents(client, deployment);
  const keys = new Map(
    named(events, "TransferSingle").map(({ args }) => [
      `${args.to} ${args.id}`,
      { owner: lower(args.to), epochId: big(args.id) },
    ]),
  );
  const owned = [...keys.values()].filter(({ owner }) => big(owner) !== 0n);
  const epochs = [...new Set(owned.map(({ epochId }) => epochId))];
  const maturities = new Map<string, string>();
  const supplies = new Map<string, bigint>();
  for (const id of epochs) {
    maturities.set(String(id), await views.maturity(client, deployment, id));
    supplies.set(String(id), await views.bondSupply(client, deployment, id));
  }
  const active: unknown[] = [];
  for (const { productId } of catalogueTerms)
    if (await views.isActiveAtRouter(client, deployment, productId)) active.push(productId);
  const { twapBurner, buybackEngine, marketplace, usdc } = deployment.contracts;
  const sellers = new Set(named(events, "WithdrawalCredited").map(({ args }) => lower(args.seller)));
  const pending = await views.proceeds(client, deployment, [...sellers]);
  const usdcOf = (account: Address) =>
    client.readContract({ abi: erc20Abi, address: usdc, functionName: "balanceOf", args: [account] });
  return {
    block,
    now,
    events,
    policies: await views.policies(client, deployment),
    products: await views.products(client, deployment),
    activeAtRouter: new Set(active),
    listings: await views.listings(client, deployment),
    vault: await views.vault(client, deployment, [...new Set(queueOf(events).map(({ week }) => week))]),
    balances: await views.holdings(client, deployment, owned),
    maturities,
    prices: await newestRounds(client, deployment),
    tokenSupply: await views.tokenSupply(client, deployment),
    sequencer: await sequencer(client, deployment),
    sequencerEvents: await sequencerEvents(client, deployment),
    throttle: await views.throttle(client, deployment),
    supplies,
    burners: await Promise.all(
      (
        [
          ["twap_burner", twapBurner],
          ["buyback_engine", buybackEngine],
        ] as const
      ).map(async ([source, address]) => ({ source, address, usdc: await usdcOf(address) })),
    ),
    marketplace,
    router: lower(deployment.contracts.coverRouter),
    proceeds: new Map(pending.map((row) => [String(row.seller), String(row.withdrawable)])),
  };
}

/** A chain with matured and fresh bonds, wallets that send their own transactions, and an api that takes their reports. */
import { type Address, encodeFunctionData, erc20Abi, type Hex, type LocalAccount } from "viem";
import { z } from "zod";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { mockUsdcAbi } from "../../../abis/MockUSDC.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { DAY } from "../../../scripts/local/seed/timeline.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { usdc } from "../../support/ledger.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import * as act from "../../support/protocol-actions.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { issueKey } from "./api.ts";
import { deployWalletFactory, walletCalls } from "./contract-wallet.ts";

/** Holds 190,000 matured bonds. At 0.10 USD a token the throttle pays 75,600 USD a week, and a tenth of it to one holder. */
export const alice = anvilAccount(2);
/** Holds 800 fresh bonds, which can be listed and cannot be redeemed. */
export const bob = anvilAccount(3);
/** Owns the contract wallet. */
export const carol = anvilAccount(4);
export const owner = anvilAccount(0);

export const WEEK = BigInt(7 * DAY);
const btc1h = termsOf("FLASHBTC1H-001");

/** A call of one of the protocol's contracts. */
export type Call = { readonly to: Address; readonly data: Hex };

export type ReportSetup = {
  readonly chain: TestChain;
  readonly protocol: act.Protocol;
  readonly stack: Stack;
  /** Between the api and the chain; the indexer reads the chain itself. */
  readonly node: RpcProxy;
  readonly request: CheckedRequest;
  /** Sends one report with the wallet's key. */
  readonly report: (path: keyof typeof paths, wallet: Address, body: object) => Promise<HttpAnswer>;
  readonly read: (wallet: Address, id: string) => Promise<HttpAnswer>;
  /** The bonds' epochs. */
  readonly matured: bigint;
  readonly fresh: bigint;
  /** A contract wallet with 1,000 matured bonds, which it bought as listing 0 at 1,100 USDC in this transaction. */
  readonly contractWallet: Address;
  readonly boughtByContract: Hex;
  readonly calls: ReturnType<typeof callsOf>;
  readonly bodies: ReturnType<typeof bodiesOf>;
};

export const paths = {
  redeem: "/api/v1/redeem",
  list: "/api/v1/marketplace/list",
  buy: "/api/v1/marketplace/buy",
} as const;

const callsOf = ({ deployment: { contracts } }: Pick<TestChain, "deployment">) => ({
  redeem: (epochId: bigint, usdAmount: bigint): Call => ({
    to: contracts.bondVault,
    data: encodeFunctionData({ abi: bondVaultAbi, functionName: "redeemBond", args: [epochId, usdAmount] }),
  }),
  list: (epochId: bigint, amount: bigint, price: bigint): Call => ({
    to: contracts.marketplace,
    data: encodeFunctionData({
      abi: bondMarketplaceAbi,
      functionName: "list",
      args: [epochId, amount, price],
    }),
  }),
  buy: (listingId: bigint): Call => ({
    to: contracts.marketplace,
    data: encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "executeBuy", args: [listingId] }),
  }),
  issueBond: (to: Address, payout: bigint): Call => ({
    to: contracts.bondVault,
    data: encodeFunctionData({ abi: bondVaultAbi, functionName: "issueBond", args: [to, payout] }),
  }),
  approve: (spender: Address, amount: bigint): Call => ({
    to: contracts.usdc,
    data: encodeFunctionData({ abi: mockUsdcAbi, functionName: "approve", args: [spender, amount] }),
  }),
});

/** What a wallet reports. */
const bodiesOf = ({ matured, fresh }: Pick<ReportSetup, "matured" | "fresh">) => ({
  /** A redemption of matured bonds. */
  redemption: (txHash: Hex, usdAmount: bigint, ownerAddress: Address = alice.address) => ({
    epochId: String(matured),
    usdAmount: String(usdAmount),
    txHash,
    ownerAddress,
  }),
  /** A listing of fresh bonds. */
  listing: (txHash: Hex, amount: bigint, price: bigint, sellerAddress: Address = bob.address) => ({
    bondId: String(fresh),
    amount: String(amount),
    totalPriceUsdc: String(price),
    txHash,
    sellerAddress,
  }),
  /**
   * A purchase of one of Alice's listings, each of 1,000 bonds at 1,100 USDC; the buyer's fee is 1.5 %. Those from 2 to 10 are of fresh
   * bonds, and open; 1 is of matured bonds, which nobody can buy any more.
   */
  purchase: (txHash: Hex, listingId: bigint, buyerAddress: Address = bob.address) => ({
    listingId: String(listingId),
    amount: "1000",
    totalPaidUsdc: "1116500000",
    txHash,
    buyerAddress,
  }),
});

/** Sends a call and waits until it is mined. @returns the hash, also when it reverts */
export async function sendCall(
  protocol: act.Protocol,
  account: LocalAccount,
  { to, data }: Call,
): Promise<Hex> {
  try {
    return (await act.send(protocol, account, to, data)).transactionHash;
  } catch (error) {
    if (error instanceof act.RevertedError) return error.receipt.transactionHash;
    throw error;
  }
}

/** Issues bonds by a triggered policy. @returns their epoch */
async function bondsFor(protocol: act.Protocol, account: LocalAccount, dollars: number): Promise<bigint> {
  const { policyId } = await act.purchase(protocol, account, btc1h, usdc((dollars * 10) / 8));
  return (await act.trigger(protocol, owner, btc1h, policyId)).epochId;
}

/**
 * Begins a new week, in which the owner redeems 7,500 USD: at the price after it they are the whole cap, so that what Alice redeems is
 * queued. @returns the week
 */
export async function useUpWeek({ protocol, matured }: Pick<ReportSetup, "protocol" | "matured">) {
  const week = (await act.chainTime(protocol)) / WEEK + 1n;
  await act.mineAt(protocol, week * WEEK);
  await act.redeem(protocol, owner, matured, 7_500n);
  await act.setTokenPrice(protocol, owner, "0.0098");
  return week;
}

/** Starts chain and services on it: only the api when left out. */
export async function startReports(services: readonly ServiceName[] = ["api"]): Promise<ReportSetup> {
  const chain = await startChain({
    timestamp: BigInt(Math.floor(Date.now() / 1000) - 800 * DAY),
    // Above the vault's capacity, so that this refuses.
    maximumCoverage: usdc(1_000_000_000),
  });
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const { coverRouter, marketplace } = chain.deployment.contracts;
  const calls = callsOf(chain);
  const wallets = await deployWalletFactory(chain);
  const contractWallet = await wallets.create(carol);
  for (const account of [alice, bob]) {
    for (const spender of [coverRouter, marketplace]) await act.approveUsdc(protocol, account, spender);
    await act.approveMarketplace(protocol, account);
  }
  for (const to of [alice.address, bob.address, contractWallet])
    await act.mintUsdc(protocol, owner, to, usdc(1_000_000));

  const matured = await bondsFor(protocol, alice, 192_000);
  // With the redemptions of another holder a week's throttle can be used up.
  await act.mintUsdc(protocol, owner, owner.address, usdc(1_000));
  await act.approveUsdc(protocol, owner, coverRouter);
  await bondsFor(protocol, owner, 20_000);
  const listEach = async (epochId: bigint, listings: number) => {
    for (let n = 0; n < listings; n += 1) await act.listBond(protocol, alice, epochId, 1_000n, usdc(1_100));
  };
  await listEach(matured, 2);
  const purchase = walletCalls(calls.approve(marketplace, usdc(2_000)), calls.buy(0n));
  const boughtByContract = await sendCall(protocol, carol, { to: contractWallet, data: purchase });
  await act.mineAt(protocol, ((await act.maturityDate(protocol, matured)) / WEEK + 1n) * WEEK);
  await act.refreshFeeds(protocol, owner);
  const fresh = await bondsFor(protocol, bob, 800);
  await listEach(await bondsFor(protocol, alice, 9_000), 9);

  const node = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, services, env: { api: { RPC_URL: node.url } } });
  const request = await checkedRequests(stack.apiUrl);
  const keys = new Map<Address, { "x-api-key": string }>();
  for (const wallet of [alice.address, bob.address, contractWallet])
    keys.set(wallet, (await issueKey(request, wallet)).headers);
  const withKeyOf = (wallet: Address) => {
    const headers = keys.get(wallet);
    if (!headers) throw new Error(`${wallet} has no key`);
    return { headers };
  };
  return {
    ...{ chain, protocol, stack, node, request, matured, fresh, contractWallet, boughtByContract, calls },
    bodies: bodiesOf({ matured, fresh }),
    report: (path, wallet, body) => request(paths[path], { ...withKeyOf(wallet), body }),
    read: (wallet, id) => request(`/api/v1/reports/${id}`, withKeyOf(wallet)),
  };
}

/** What a wallet has now, read from the chain, as the answer to a report states it. */
export async function holdingsOf(
  { client, deployment }: TestChain,
  wallet: Address,
  epochId: bigint,
  openListing: object | null = null,
) {
  const { usdc: token, claimBond, marketplace } = deployment.contracts;
  const [usdcBalance, withdrawable, bondBalance, asOfBlock] = await Promise.all([
    client.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [wallet] }),
    client.readContract({
      ...{ address: marketplace, abi: bondMarketplaceAbi, functionName: "pendingWithdrawals" },
      args: [wallet],
    }),
    client.readContract({
      ...{ address: claimBond, abi: claimBondAbi, functionName: "balanceOf" },
      args: [wallet, epochId],
    }),
    client.getBlockNumber(),
  ]);
  return {
    usdcBalance: String(usdcBalance),
    withdrawableUsdc: String(withdrawable),
    bondBalance: String(bondBalance),
    openListing,
    asOfBlock: String(asOfBlock),
  };
}

const identified = z.object({ reportId: z.string() });

/** The id of a report in a response. @throws when the response has none */
export const reportIdOf = (answer: HttpAnswer): string => identified.parse(answer.json).reportId;

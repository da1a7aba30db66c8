/** What the router could take from a buyer at a purchase's place in its block. */
import { erc20Abi, getAbiItem, isAddressEqual } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { smaller } from "../common/bigints.ts";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Chain, Receipt } from "./chain.ts";
import { purchaseOfCalldata } from "./purchase-call.ts";

const transfer = getAbiItem({ abi: erc20Abi, name: "Transfer" });
const approval = getAbiItem({ abi: erc20Abi, name: "Approval" });

/**
 * Whether the buyer's USDC or allowance was too low when its purchase ran, even if it suffices at the end of the block. Computed
 * from both before the block, and from USDC's logs before the purchase. False where the node has another block by now.
 */
export async function lackedFunds(
  chain: Chain,
  { to: router, data }: Pick<Call, "to" | "data">,
  { hash, blockHash, blockNumber }: Pick<Receipt, "hash" | "blockHash" | "blockNumber">,
): Promise<boolean> {
  const request = purchaseOfCalldata(data);
  const block = await chain.block(blockNumber);
  if (!request || block?.hash !== blockHash) return false;
  const { buyer, productId, coverageAmount } = request;
  const { client } = chain;
  const ofRouter = { address: router, abi: coverRouterAbi, blockNumber } as const;
  const [usdc, [premium]] = await Promise.all([
    client.readContract({ ...ofRouter, functionName: "usdc" }),
    client.readContract({ ...ofRouter, functionName: "quotePremium", args: [productId, coverageAmount] }),
  ]);
  const before = { address: usdc, abi: erc20Abi, blockNumber: blockNumber - 1n } as const;
  const inBlock = { address: usdc, blockHash, strict: true } as const;
  const [balance, allowance, received, paid, approved] = await Promise.all([
    client.readContract({ ...before, functionName: "balanceOf", args: [buyer] }),
    client.readContract({ ...before, functionName: "allowance", args: [buyer, router] }),
    client.getLogs({ ...inBlock, event: transfer, args: { to: buyer } }),
    client.getLogs({ ...inBlock, event: transfer, args: { from: buyer } }),
    client.getLogs({ ...inBlock, event: approval, args: { owner: buyer, spender: router } }),
  ]);
  const place = block.transactions.indexOf(hash);
  const isBefore = ({ transactionIndex }: { transactionIndex: number }) => transactionIndex < place;
  const sum = (logs: typeof paid) =>
    logs.filter(isBefore).reduce((total, { args }) => total + args.value, 0n);
  const lastApproval = approved.findLast(isBefore);
  // A premium uses up the allowance without a log of its own.
  const premiumsSince = paid.filter(
    ({ args, logIndex }) => isAddressEqual(args.to, router) && logIndex > (lastApproval?.logIndex ?? -1),
  );
  const available = smaller(
    balance + sum(received) - sum(paid),
    (lastApproval?.args.value ?? allowance) - sum(premiumsSince),
  );
  return available < premium;
}

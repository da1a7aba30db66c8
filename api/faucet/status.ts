/** How the faucet stands, for everybody who looks. */
import type { Address } from "viem";
import { type RoleWallet, roleWallet } from "../../lib/ledger/relayers.ts";
import { shareRead } from "../../lib/shared-read.ts";
import type { Dependencies } from "../dependencies.ts";
import { fromChain, fromDatabase } from "../http/dependency-timeout.ts";
import { faucetAway, noFaucet, stoppedFaucet } from "./claim.ts";
import { type ClaimCounts, countClaims } from "./counts.ts";
import { faucetTerms } from "./terms.ts";

/** How old may be what many are told, in ms. */
const STATUS_TTL_MS = 250;

/** `reason`: why nobody can claim now. */
type State = { status: "ready"; reason: null } | { status: "unready" | "disabled"; reason: string };

export type FaucetStanding = {
  state: State;
  counts: ClaimCounts;
  /** The faucet's ether in wei; 0 where there is no faucet. */
  balance: bigint;
  /** The mock USDC; null where there is no testnet. */
  token: Address | null;
};

function stateOf(wallet: RoleWallet | undefined, { today, dayEndsAt }: ClaimCounts, balance: bigint): State {
  if (!wallet) return { status: "disabled", reason: noFaucet };
  if (wallet.stopped) return { status: "disabled", reason: stoppedFaucet };
  if (!wallet.alive) return { status: "unready", reason: faucetAway };
  if (wallet.fault !== null) return { status: "unready", reason: wallet.fault };
  if (balance <= faucetTerms.wei)
    return { status: "unready", reason: "The faucet has too little ether left for a grant." };
  if (today >= faucetTerms.dailyCap)
    return {
      status: "unready",
      reason: `The grants of this UTC day are given: the next day begins at ${dayEndsAt.toISOString()}.`,
    };
  return { status: "ready", reason: null };
}

/** Makes the reader of `GET /api/v1/faucet/status`. @throws ApiError when the database, or the testnet's node, is away */
export function createFaucetStatus({ connection, testnet }: Dependencies): () => Promise<FaucetStanding> {
  const { db } = connection;
  return shareRead(STATUS_TTL_MS, async () => {
    // No chain has this number: nothing was ever claimed there.
    const chainId = testnet?.deployment.chainId ?? 0;
    const [wallet, counts] = await fromDatabase(() =>
      Promise.all([roleWallet(db, chainId, "faucet"), countClaims(db, chainId)]),
    );
    const balance =
      testnet && wallet ? await fromChain(() => testnet.chain.getBalance({ address: wallet.address })) : 0n;
    const token = testnet?.deployment.contracts.usdc ?? null;
    return { state: stateOf(wallet, counts, balance), counts, balance, token };
  });
}

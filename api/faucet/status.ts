/** The faucet's public status. */
import type { Address } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import { type RoleWallet, roleWallet } from "../../lib/ledger/relayers.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { fromChain, fromDatabase } from "../http/dependency-timeout.ts";
import { faucetDown, noFaucet, stoppedFaucet, type Testnet } from "./claim.ts";
import { type ClaimCounts, countClaims } from "./counts.ts";
import { faucetTerms } from "./terms.ts";

/** Maximum age of the shared status, in ms. */
const STATUS_TTL_MS = 250;

/** `reason` says why no claim can be granted now. */
type State = { status: "ready"; reason: null } | { status: "unready" | "disabled"; reason: string };

export type FaucetStatus = {
  state: State;
  counts: ClaimCounts;
  /** The faucet's ether in wei; 0 without a faucet. */
  balance: bigint;
  /** The mock USDC; null without a testnet. */
  token: Address | null;
};

function stateOf(wallet: RoleWallet | undefined, { today, dayEndsAt }: ClaimCounts, balance: bigint): State {
  if (!wallet) return { status: "disabled", reason: noFaucet };
  if (wallet.stopped) return { status: "disabled", reason: stoppedFaucet };
  if (!wallet.alive) return { status: "unready", reason: faucetDown };
  if (wallet.fault !== null) return { status: "unready", reason: wallet.fault };
  if (balance <= faucetTerms.wei)
    return { status: "unready", reason: "The faucet has too little ether left for a grant." };
  if (today >= faucetTerms.dailyCap)
    return {
      status: "unready",
      reason: `All grants of this UTC day are given: the next day begins at ${dayEndsAt.toISOString()}.`,
    };
  return { status: "ready", reason: null };
}

/** Makes the reader of `GET /api/v1/faucet/status`. @throws ApiError when the database or the testnet's node is down */
export function createFaucetStatus({
  connection,
  testnet,
}: {
  connection: Connection;
  testnet: Testnet | undefined;
}): () => Promise<FaucetStatus> {
  const { sql } = connection;
  return shareRead(STATUS_TTL_MS, async () => {
    // No chain has the id 0, so there are no claims.
    const chainId = testnet?.deployment.chainId ?? 0;
    const [wallet, counts] = await fromDatabase(() =>
      Promise.all([roleWallet(sql, chainId, "faucet"), countClaims(sql, chainId)]),
    );
    const balance =
      testnet && wallet ? await fromChain(() => testnet.client.getBalance({ address: wallet.address })) : 0n;
    const token = testnet?.deployment.contracts.usdc ?? null;
    return { state: stateOf(wallet, counts, balance), counts, balance, token };
  });
}

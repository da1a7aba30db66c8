/** Whether a wallet has signed: a plain account's signature is recovered here, a contract's is asked of the chain. */
import {
  type Address,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hexToBool,
  isAddressEqual,
  recoverAddress,
  size,
  zeroAddress,
} from "viem";
import type { ReadClient } from "../lib/chain/client.ts";
import { findRevert } from "../lib/chain/reverts.ts";
import { ApiError } from "../lib/errors.ts";
import { fromChain } from "./bounded.ts";
import { createRoom } from "./room.ts";

/** Checks on the chain at once in this process; each runs code that a stranger chose. */
const MAX_CHECKS = 4;
/** A check takes a call or two; much sooner than after the 30 s of other failures there is room again. */
const BUSY_RETRY_SECONDS = 5;
/** Bytes of a plain account's signature. */
const ACCOUNT_SIGNATURE = 65;

export type Signatures = {
  /**
   * True when the wallet has signed one of the digests. ERC-1271 and ERC-6492 (a contract that is not there yet) count.
   * @throws ApiError `verification_busy` or `chain_not_found` when only the chain can tell, and did not
   */
  hasSigned(wallet: Address, digests: readonly Hex[], signature: Hex): Promise<boolean>;
};

async function isRecovered(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), wallet);
  } catch {
    return false; // no point of the curve
  }
}

/** `client` is for these checks alone, so that they hold up nothing else. */
export function createSignatures(client: ReadClient): Signatures {
  const room = createRoom(
    MAX_CHECKS,
    () =>
      new ApiError(
        "verification_busy",
        `${MAX_CHECKS} signatures are checked on the chain already; try again later.`,
        { retryAfter: BUSY_RETRY_SECONDS },
      ),
  );

  /** viem's own `verifyHash` takes a node that does not answer for a signature that does not hold. */
  async function isValid(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet, hash, signature],
    });
    try {
      const answer = await client.call({ data });
      return hexToBool(answer.data ?? "0x0");
    } catch (error) {
      if (findRevert(error)) return false;
      throw error;
    }
  }

  return {
    async hasSigned(wallet, digests, signature) {
      // To recover nothing gives the zero address on the chain, so that any bytes would be its signature.
      if (wallet === zeroAddress) return false;
      if (size(signature) === ACCOUNT_SIGNATURE) {
        for (const digest of digests) if (await isRecovered(wallet, digest, signature)) return true;
      }
      const verdicts = await room(() =>
        fromChain(() => Promise.all(digests.map((digest) => isValid(wallet, digest, signature)))),
      );
      return verdicts.includes(true);
    },
  };
}

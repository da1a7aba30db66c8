/** Checks wallets' signatures: a plain account's is recovered here, a contract wallet's is verified on the chain. */
import {
  type Address,
  encodeDeployData,
  getAddress,
  type Hex,
  hexToBool,
  isAddressEqual,
  keccak256,
  parseErc6492Signature,
  recoverAddress,
  size,
  slice,
  toHex,
  zeroAddress,
} from "viem";
import { signatureCheckAbi, signatureCheckBytecode } from "../../abis/SignatureCheck.ts";
import { ACCOUNT_SIGNATURE, expandSignature } from "../../lib/chain/account-signature.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { isOutOfGas } from "../../lib/chain/reverts.ts";
import { ApiError } from "../../lib/errors.ts";
import { createConcurrencyLimit } from "../http/concurrency-limit.ts";
import { chainNotFound, fromChain } from "../http/dependency-timeout.ts";

/** Concurrent checks on the chain in this process; each runs code that a stranger chose. */
const MAX_CHECKS = 4;
/** `Retry-After` of a refused check, in seconds: a check takes one call. */
const BUSY_RETRY_SECONDS = 5;
/**
 * Gas of a check: below the most that a transaction may have (2^24, EIP-7825), to which nodes may hold calls too. Each call
 * of a wallet or its factory has an equal part, 3.75 million with three digests: enough to deploy a wallet, or to verify
 * another curve in Solidity. An endless loop costs the node a few milliseconds.
 */
const CHECK_GAS = 16_000_000n;
/** The part for the check's own code: a signature of 8 kB takes half of it. */
const OWN_GAS = 1_000_000n;
/** The sender of checks, and so their `tx.origin`: a hash, so that nobody has its key. */
const SENDER = getAddress(slice(keccak256(toHex("signature check")), 12));

export type Signatures = {
  /**
   * True when the wallet has signed one of the digests, also by ERC-1271 or ERC-6492 (a contract not deployed yet).
   * @throws ApiError `verification_busy` or `chain_not_found` when the check on the chain was not possible
   */
  hasSigned(wallet: Address, digests: readonly Hex[], signature: Hex): Promise<boolean>;
};

async function isRecovered(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), wallet);
  } catch {
    return false; // not a point on the curve
  }
}

/** A signature without its ERC-6492 wrapper, and the wrapper's call that deploys the wallet; undefined for a broken wrapper. */
function unwrap(signature: Hex): { signature: Hex; factory: Address; factoryCall: Hex } | undefined {
  try {
    const { address = zeroAddress, data = "0x", signature: inner } = parseErc6492Signature(signature);
    return { signature: inner, factory: address, factoryCall: data };
  } catch {
    return undefined;
  }
}

/** `client` should be used for these checks only, so that they delay nothing else, and should not retry. */
export function createSignatures(client: ReadClient): Signatures {
  const limit = createConcurrencyLimit(
    MAX_CHECKS,
    () =>
      new ApiError(
        "verification_busy",
        `${MAX_CHECKS} signatures are being checked on the chain; try again later.`,
        { retryAfter: BUSY_RETRY_SECONDS },
      ),
  );

  /** Asks the wallet in one call, so that all of the check sees one block. */
  async function walletAccepts(wallet: Address, digests: readonly Hex[], wrapped: Hex): Promise<boolean> {
    const unwrapped = unwrap(wrapped);
    if (!unwrapped) return false;
    const { signature, factory, factoryCall } = unwrapped;
    const callGas = (CHECK_GAS - OWN_GAS) / BigInt(digests.length + 1);
    const data = encodeDeployData({
      abi: signatureCheckAbi,
      bytecode: signatureCheckBytecode,
      args: [wallet, digests, signature, factory, factoryCall, callGas],
    });
    try {
      const { data: word = "0x" } = await client.call({ account: SENDER, data, gas: CHECK_GAS });
      return hexToBool(word, { size: 32 });
    } catch (error) {
      if (isOutOfGas(error)) return false;
      throw chainNotFound(error); // also a revert: the check itself never reverts
    }
  }

  return {
    async hasSigned(wallet, digests, signature) {
      const ofAccount = expandSignature(signature) ?? signature;
      if (size(ofAccount) === ACCOUNT_SIGNATURE) {
        for (const digest of digests) if (await isRecovered(wallet, digest, ofAccount)) return true;
      }
      return limit(() => fromChain(() => walletAccepts(wallet, digests, signature)));
    },
  };
}

/** Checks wallets' signatures: a plain account's is recovered here, a contract wallet's is verified on the chain. */
import {
  type Address,
  BaseError,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hexToBool,
  isAddressEqual,
  pad,
  parseAbi,
  recoverAddress,
  size,
  slice,
  zeroAddress,
} from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { ApiError } from "../../lib/errors.ts";
import { createConcurrencyLimit } from "../http/concurrency-limit.ts";
import { fromChain } from "../http/dependency-timeout.ts";

/** Concurrent checks on the chain in this process; each runs code that a stranger chose. */
const MAX_CHECKS = 4;
/** `Retry-After` of a refused check, in seconds: a check takes one or two calls. */
const BUSY_RETRY_SECONDS = 5;
/** Length of a plain account's signature, in bytes. */
const ACCOUNT_SIGNATURE = 65;
/** The ERC-6492 validator reads the last 32 bytes of a signature, and fails on a shorter one. */
const MIN_VALIDATOR_SIGNATURE = 32;
/**
 * Gas of one check: enough to deploy a wallet and verify another curve in Solidity; an endless loop costs the node a few
 * milliseconds.
 */
const CHECK_GAS = 5_000_000n;

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
/** The answer of `isValidSignature` to a valid signature: its own selector, padded (an echo of the input is not). */
const ERC1271_VALID = pad("0x1626ba7e", { dir: "right", size: 32 });

/** Nodes' messages for calls that end neither in success nor in a revert: a fault of the wallet's code, not of the node. */
const EVM_FAULT =
  /out ?of ?gas|invalid ?(fe ?)?opcode|opcode ?not ?found|invalid ?jump|stack ?(under|over)flow|stack ?limit/i;

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

/** True when the node reports a fault of the wallet's code that is no revert. */
const isEvmFault = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof BaseError && EVM_FAULT.test(cause.details)) !== null;

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

  /** Calls the ERC-6492 validator, which handles ERC-1271, ERC-6492 and plain accounts. */
  async function validatorAccepts(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet, hash, signature],
    });
    const answer = await client.call({ data, gas: CHECK_GAS });
    return hexToBool(answer.data ?? "0x0");
  }

  /** Calls the wallet itself by ERC-1271: a message approved by a Safe's owners has the signature `0x`. */
  async function walletAccepts(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
    const data = encodeFunctionData({ abi: erc1271Abi, args: [hash, signature] });
    const { data: answer = "0x" } = await client.call({ to: wallet, data, gas: CHECK_GAS });
    return size(answer) >= 32 && slice(answer, 0, 32) === ERC1271_VALID;
  }

  /** Unlike viem's `verifyHash`, it does not take a node that fails to answer for an invalid signature. */
  async function isValid(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
    const accepts = size(signature) < MIN_VALIDATOR_SIGNATURE ? walletAccepts : validatorAccepts;
    try {
      return await accepts(wallet, hash, signature);
    } catch (error) {
      if (findRevert(error) || isEvmFault(error)) return false;
      throw error;
    }
  }

  return {
    async hasSigned(wallet, digests, signature) {
      // On the chain a failed recovery yields the zero address, so any bytes would be its signature.
      if (wallet === zeroAddress) return false;
      if (size(signature) === ACCOUNT_SIGNATURE) {
        for (const digest of digests) if (await isRecovered(wallet, digest, signature)) return true;
      }
      return limit(() =>
        fromChain(async () => {
          // One after another, so that a check is one call at a time.
          for (const digest of digests) if (await isValid(wallet, digest, signature)) return true;
          return false;
        }),
      );
    },
  };
}

/** Whether a wallet has signed: a plain account's signature is recovered here, a contract's is asked of the chain. */
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
import { createRoom } from "../http/concurrency-limit.ts";
import { fromChain } from "../http/dependency-timeout.ts";

/** Checks on the chain at once in this process; each runs code that a stranger chose. */
const MAX_CHECKS = 4;
/** A check takes a call or two; much sooner than after the 30 s of other failures there is room again. */
const BUSY_RETRY_SECONDS = 5;
/** Bytes of a plain account's signature. */
const ACCOUNT_SIGNATURE = 65;
/** The ERC-6492 validator reads the last 32 bytes of a signature, and fails on one that is shorter. */
const MIN_VALIDATOR_SIGNATURE = 32;
/**
 * Gas of one check: enough for a wallet that is deployed within it and verifies another curve in Solidity, and a few
 * milliseconds of the node's time for one that loops.
 */
const CHECK_GAS = 5_000_000n;

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
/** What `isValidSignature` answers to a signature that holds: its own selector, and nothing behind it, unlike an echo. */
const ERC1271_VALID = pad("0x1626ba7e", { dir: "right", size: 32 });

/** How nodes name the ends of a call other than a revert: the wallet's code is at fault, not the node. */
const EVM_FAULT =
  /out ?of ?gas|invalid ?(fe ?)?opcode|opcode ?not ?found|invalid ?jump|stack ?(under|over)flow|stack ?limit/i;

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

/** True when the wallet's code came to an end that is no revert, and the node said so. */
const isEvmFault = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof BaseError && EVM_FAULT.test(cause.details)) !== null;

/** `client` is for these checks alone, so that they hold up nothing else, and repeats none: each costs what a stranger chose. */
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

  /** Asks the validator, which knows ERC-1271, ERC-6492 and plain accounts. */
  async function validatorAccepts(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
    const data = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet, hash, signature],
    });
    const answer = await client.call({ data, gas: CHECK_GAS });
    return hexToBool(answer.data ?? "0x0");
  }

  /** Asks the wallet itself, by ERC-1271: a message that a Safe's owners approved has the signature `0x`. */
  async function walletAccepts(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
    const data = encodeFunctionData({ abi: erc1271Abi, args: [hash, signature] });
    const { data: answer = "0x" } = await client.call({ to: wallet, data, gas: CHECK_GAS });
    return size(answer) >= 32 && slice(answer, 0, 32) === ERC1271_VALID;
  }

  /** viem's own `verifyHash` takes a node that does not answer for a signature that does not hold. */
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
      // To recover nothing gives the zero address on the chain, so that any bytes would be its signature.
      if (wallet === zeroAddress) return false;
      if (size(signature) === ACCOUNT_SIGNATURE) {
        for (const digest of digests) if (await isRecovered(wallet, digest, signature)) return true;
      }
      return room(() =>
        fromChain(async () => {
          // One after another: a place in the room is one call at a time.
          for (const digest of digests) if (await isValid(wallet, digest, signature)) return true;
          return false;
        }),
      );
    },
  };
}

/** Bounds how long an answer waits for the database or the chain's node. */
import { BaseError, RpcRequestError } from "viem";
import { findMismatch, findRevert } from "../../lib/chain/reverts.ts";
import { isConnectionError } from "../../lib/db/connect.ts";
import { sqlState } from "../../lib/db/sql-state.ts";
import { ApiError } from "../../lib/errors.ts";
import { within } from "../../lib/timeout.ts";

/** Longest wait for a dependency, in ms; after it the client gets a 503. */
export const DEPENDENCY_TIMEOUT_MS = 4500;

export const databaseUnavailable = (cause?: unknown) =>
  new ApiError("database_unavailable", "The database cannot be reached; try again later.", { cause });

export const chainNotFound = (cause?: unknown) =>
  new ApiError("chain_not_found", "The chain's node does not answer; try again later.", { cause });

/**
 * A failure of the node, or of a contract that is not of the release that we speak, as the API's error. The cause of
 * `contract_mismatch` has the contract and the function.
 */
export function chainError(error: unknown): ApiError {
  const cause = findMismatch(error);
  if (!cause) return chainNotFound(error);
  const message = `The contract at ${cause.contractAddress} does not answer ${cause.functionName} as release V5.4 does.`;
  return new ApiError("contract_mismatch", message, { cause });
}

/** True when a table or schema is missing, or not granted to the api. For the service's own: the migrations have not run yet. */
const isNotMigrated = (error: unknown): boolean => ["42P01", "3F000", "42501"].includes(sqlState(error));

/**
 * Runs a query of the service's own tables within the time limit. `waitMs` is added to it where the query waits for a row.
 * @throws ApiError `database_unavailable` when the database is down or too slow; the query's own error otherwise.
 */
export async function fromDatabase<T>(query: () => PromiseLike<T>, waitMs = 0): Promise<T> {
  try {
    return await within(waitMs + DEPENDENCY_TIMEOUT_MS, query(), databaseUnavailable);
  } catch (error) {
    throw isConnectionError(error) || isNotMigrated(error) ? databaseUnavailable(error) : error;
  }
}

/**
 * Runs calls to the chain's node within the time limit.
 * @throws ApiError `chain_not_found` when the node is down, too slow or sends an invalid answer, `contract_mismatch` when a view
 *   reverts or answers what cannot be decoded; the revert's own error when another call reverts.
 */
export async function fromChain<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await within(DEPENDENCY_TIMEOUT_MS, call(), chainNotFound);
  } catch (error) {
    const isKept = !(error instanceof BaseError) || (findRevert(error) && !findMismatch(error));
    throw isKept ? error : chainError(error);
  }
}

/** The node's error in a failure of `fromChain`: it has answered, with an error; undefined for any other failure. */
export function nodeErrorIn(error: unknown): BaseError | undefined {
  const cause = error instanceof ApiError ? error.cause : error;
  const isAnswer =
    cause instanceof BaseError && cause.walk((inner) => inner instanceof RpcRequestError) !== null;
  return isAnswer ? cause : undefined;
}

/** Bounds how long an answer waits for the database or the chain's node. */
import { BaseError, RpcRequestError } from "viem";
import { findRevert } from "../../lib/chain/reverts.ts";
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
 * @throws ApiError `chain_not_found` when the node is down, too slow or sends an invalid answer; the revert's own error when a call reverts.
 */
export async function fromChain<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await within(DEPENDENCY_TIMEOUT_MS, call(), chainNotFound);
  } catch (error) {
    throw error instanceof BaseError && !findRevert(error) ? chainNotFound(error) : error;
  }
}

/** The node's error in a failure of `fromChain`: it has answered, with an error; undefined for any other failure. */
export function nodeErrorIn(error: unknown): BaseError | undefined {
  const cause = error instanceof ApiError ? error.cause : error;
  const isAnswer =
    cause instanceof BaseError && cause.walk((inner) => inner instanceof RpcRequestError) !== null;
  return isAnswer ? cause : undefined;
}

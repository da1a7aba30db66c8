/** Postgres' errors for a read of the indexed tables before they exist, or while they are replaced. */
import { sqlState } from "../db/sql-state.ts";

/** The views do not exist yet, are not granted to the api yet, or are those of another build: there is nothing to read. */
export const isNotBuilt = (error: unknown) => ["42P01", "3F000", "42501", "42703"].includes(sqlState(error));
/** The views were replaced under the query ("could not open relation", deadlock, changed plan): the next try finds the new ones. */
export const isSwap = (error: unknown) => ["XX000", "40P01", "0A000"].includes(sqlState(error));
/** For `catch`: undefined while there is no index to read, or while it is replaced. @throws any other error */
export function noneWithoutIndex(error: unknown): undefined {
  if (isNotBuilt(error) || isSwap(error)) return undefined;
  throw error;
}

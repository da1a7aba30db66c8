/**
 * Changes how Ponder commits. Once a commit has succeeded, Ponder never reads its blocks again while it runs, so no crash of
 * Postgres may lose it. A commit that fails rolls its rows back, but they stay in Ponder's cache: Ponder would repeat the
 * transaction and take them for written.
 */
import { interceptStatements } from "./ponder-driver.ts";

/** The indexer's exit code after a commit that failed: the next start reads the blocks again. */
export const lostCommitExitCode = 5;

/** Ponder sends this on each new connection. Commits then do not wait for the disk. */
const COMMIT_EARLY = "SET synchronous_commit = off;";
/** Sent instead: Ponder's longest statements take longer than the login's time limit. */
const STATEMENT_TIMEOUT = "SET statement_timeout = '10min';";

const isCommit = (statement: unknown): boolean =>
  typeof statement === "object" && statement !== null && "text" in statement && statement.text === "commit";

/**
 * Makes Ponder's commits wait for the disk, unless the database is set otherwise. Call it before Ponder starts.
 * @param onFailure called when a commit has failed or its answer is lost. It must end the process: the next start reads
 *   again all blocks that are not final.
 */
export function keepCommits(onFailure: (error: unknown) => void): void {
  interceptStatements((statement, send) => {
    const sent = send(
      typeof statement === "string" ? statement.replace(COMMIT_EARLY, STATEMENT_TIMEOUT) : statement,
    );
    if (isCommit(statement) && sent instanceof Promise) sent.catch(onFailure);
    return sent;
  });
}

/** Seconds without a heartbeat after which an indexer counts as down; it sends one every 2 s. */
export const DOWN_AFTER_SECONDS = 10;

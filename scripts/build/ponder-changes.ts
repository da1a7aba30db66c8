/** What the indexer's bundle changes in Ponder's text. Each text occurs once in its file; another Ponder is refused. */

type Change = { readonly text: string; readonly becomes: string };

/** Where Ponder compares the height of a new head with its own: it takes a head that is not higher for a reorganisation. */
const HEIGHT_CHECK = "if (hexToNumber(latestBlock.number) >= hexToNumber(block.number)) {";
/**
 * Ponder polls without waiting for the answer before, so one may come late, and a node behind a load balancer may be behind.
 * Neither takes blocks back: the head is one of the blocks that Ponder has. After a reorganisation it has another hash.
 */
const ignoreKnownHeads: Change = {
  text: HEIGHT_CHECK,
  becomes: `if (unfinalizedBlocks.some(({ hash }) => hash === block.hash)) {
            blockCallback?.(false);
            return;
        }
        ${HEIGHT_CHECK}`,
};

/**
 * Ponder would write a row that a projection inserts and then changes twice: the changed row as an insert, then as an update, for
 * which it fills a temporary table. A row that is not written yet is only inserted.
 */
const insertOnce: Change = {
  text: "if (isUpdate) {",
  becomes: "if (isUpdate && !insertBuffer.get(table).has(ck)) {",
};

/** By the end of the file's path. */
const changes: Readonly<Record<string, readonly Change[]>> = {
  "sync-realtime/index.js": [ignoreKnownHeads],
  "indexing-store/cache.js": [insertOnce],
};

/** The text of one of Ponder's files as we run it. @throws when this Ponder has another text */
export function changePonder(path: string, source: string): string {
  const [, own = []] = Object.entries(changes).find(([file]) => path.endsWith(file)) ?? [];
  return own.reduce((text, change) => {
    const parts = text.split(change.text);
    if (parts.length !== 2)
      throw new Error(`${path} has this text ${parts.length - 1} times, not once: ${change.text}`);
    return parts.join(change.becomes);
  }, source);
}

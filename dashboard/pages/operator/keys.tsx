import { useEffect, useState } from "preact/hooks";
import type { Schema } from "../../../client/index.ts";
import { go, place, viewHref } from "../../data/place.ts";
import { timestampSeconds } from "../../format/day.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Link } from "../../parts/link.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Moment } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";
import { StopButton } from "./stop-draft.tsx";
import { ADDRESS } from "./stop-target.ts";
import { useAdmin } from "./use-admin.ts";

/** Keys of a page. */
const PAGE = 25;
/** Where wallet and cursor are in the address. */
const WALLET = "wallet";
const CURSOR = "keys-after";

const KeyTable = ({ keys, empty }: { keys: readonly Schema<"AnyKey">[]; empty: string }) => (
  <Table
    caption="API keys"
    rows={keys}
    keyOf={({ keyId }) => String(keyId)}
    empty={empty}
    columns={[
      { head: "Key", numeric: true, cell: ({ keyId }) => keyId },
      { head: "Wallet", cell: ({ wallet }) => <Address of={wallet} /> },
      { head: "Label", cell: ({ label }) => label ?? "–" },
      { head: "Tier", cell: ({ tier }) => tier },
      { head: "Hash begins", cell: ({ hashPrefix }) => <span class="hex">{hashPrefix}</span> },
      { head: "Created", cell: ({ createdAt }) => <Moment at={timestampSeconds(createdAt)} /> },
      {
        head: "Last used",
        cell: ({ lastUsedAt }) =>
          lastUsedAt === null ? "never" : <Moment at={timestampSeconds(lastUsedAt)} />,
      },
      {
        head: "State",
        cell: ({ revokedAt }) =>
          revokedAt === null ? (
            <Word tone="good">Accepted</Word>
          ) : (
            <>
              <Word tone="quiet">Revoked</Word> <Moment at={timestampSeconds(revokedAt)} />
            </>
          ),
      },
      {
        head: "Stop",
        cell: ({ keyId, revokedAt }) =>
          revokedAt === null ? <StopButton target={{ scope: "key", keyId }} what={`key ${keyId}`} /> : "–",
      },
    ]}
  />
);

/** Pages of all keys, or of one wallet's, the newest first. */
function KeyPages({ wallet }: { wallet: string | undefined }) {
  const cursor = cursorInView(CURSOR);
  const query = { limit: PAGE, wallet, cursor };
  const read = useAdmin(`keys ${wallet} ${cursor}`, (admin) => admin.get("/api/v1/admin/keys", { query }));
  return (
    <Shown read={read} height={40}>
      {({ keys, nextCursor }) => (
        <>
          <KeyTable
            key={`${wallet} ${cursor}`}
            keys={keys}
            empty={wallet === undefined ? "No key was issued yet." : "This wallet has no key."}
          />
          <PageLinks name={CURSOR} next={nextCursor} what="keys" />
        </>
      )}
    </Shown>
  );
}

/** The keys of all wallets, or of the one in the address of the page. */
export function Keys() {
  const given = place.value.view.get(WALLET) ?? undefined;
  const [text, setText] = useState(given ?? "");
  useEffect(() => setText(given ?? ""), [given]);
  /** Another wallet's keys begin with their first page. */
  const hrefOf = (wallet: string | undefined) => viewHref({ [WALLET]: wallet, [CURSOR]: undefined });
  const search = () => go(hrefOf(text.trim() === "" ? undefined : text.trim()));
  const isAddress = given === undefined || ADDRESS.test(given);
  return (
    <Section
      title="Keys"
      sentence="The keys themselves are not stored: a key is known by the start of its hash."
    >
      <p class="fields">
        <label for="key-wallet">Keys of the wallet</label>
        <input
          id="key-wallet"
          autocomplete="off"
          spellcheck={false}
          placeholder="0x…"
          aria-invalid={!isAddress}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === "Enter") search();
          }}
        />
        <button type="button" class="button" onClick={search}>
          Search
        </button>
        {given !== undefined && <Link to={hrefOf(undefined)}>All keys</Link>}
      </p>
      {isAddress ? (
        <KeyPages wallet={given} />
      ) : (
        <p class="refusal" role="alert">
          An address is 0x and 40 hex digits.
        </p>
      )}
    </Section>
  );
}

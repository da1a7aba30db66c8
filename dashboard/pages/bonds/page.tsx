import { together, useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Holders } from "./holders.tsx";
import { Maturities } from "./maturities.tsx";
import { Queue } from "./queue.tsx";
import { Vault } from "./vault.tsx";

/** “2,500 USD of bonds are outstanding, held by 4 wallets; 2 redemptions wait.” */
function BondsSentence() {
  const read = together({
    maturities: useRead("/api/v1/stats/bonds/maturities"),
    holders: useRead("/api/v1/stats/holders"),
    queue: useRead("/api/v1/stats/queue"),
  });
  return (
    <Shown read={read}>
      {({ maturities: { total }, holders, queue }) =>
        total.minted_usd === "0" ? (
          <>No bond exists yet. Each policy that is paid creates some.</>
        ) : (
          <>
            <Amount value={total.outstanding_usd} unit="dollars" /> of bonds are outstanding, held by{" "}
            {counted(holders.holders_total, "wallet", "wallets")};{" "}
            {queue.waiting.entries === 0
              ? "no redemption waits"
              : counted(queue.waiting.entries, "redemption waits", "redemptions wait")}
            .
          </>
        )
      }
    </Shown>
  );
}

/** What the protocol owes, when, and what it has for it. */
export default function Bonds() {
  return (
    <>
      <Head title="Bonds">
        <BondsSentence />
      </Head>
      <Vault />
      <Maturities />
      <Queue />
      <Holders />
    </>
  );
}

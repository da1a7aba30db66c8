import { useEffect } from "preact/hooks";
import { together } from "../../data/use-read.ts";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Flights } from "./flights.tsx";
import { Keeper } from "./keeper.tsx";
import { Keys } from "./keys.tsx";
import { OperatorFigures, OperatorSentence } from "./overview.tsx";
import { close } from "./session.ts";
import { Gas, Spending } from "./spending.tsx";
import { Stops } from "./stops.tsx";
import { Troubles } from "./troubles.tsx";
import { useAdmin } from "./use-admin.ts";
import { ServiceWallets } from "./wallets.tsx";
import { Webhooks } from "./webhooks.tsx";

/** What the operator sees once the token is accepted. */
export function Desk() {
  const stops = useAdmin("stops", (admin) => admin.get("/api/v1/admin/stops"));
  const ledger = useAdmin("ledger", (admin) => admin.get("/api/v1/admin/ledger"));
  const webhooks = useAdmin("webhooks", (admin) => admin.get("/api/v1/admin/webhooks"));
  const all = together({ stops, ledger, webhooks });
  // The field that had the focus is gone.
  useEffect(() => document.getElementById("title")?.focus({ preventScroll: true }), []);
  return (
    <>
      <Head title="Operator">
        <Shown read={all}>{(bodies) => <OperatorSentence {...bodies} />}</Shown>
      </Head>
      <Shown read={all} height={16}>
        {(bodies) => <OperatorFigures {...bodies} />}
      </Shown>
      <Stops stops={stops} ledger={ledger} />
      <Shown read={ledger} height={40}>
        {(body) => <ServiceWallets wallets={body.wallets} />}
      </Shown>
      <Flights ledger={ledger} />
      <Shown read={ledger} height={40}>
        {(body) => (
          <>
            <Troubles ledger={body} />
            <Keeper ledger={body} />
            <Gas ledger={body} />
            <Spending ledger={body} />
          </>
        )}
      </Shown>
      <Webhooks first={webhooks} />
      <Keys />
      <section>
        <p class="note">
          Everything is read again every ten seconds.{" "}
          <button type="button" class="plain" onClick={() => close()}>
            Forget the admin token
          </button>
        </p>
      </section>
    </>
  );
}

import { together, useLiveRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Address } from "../../parts/address.tsx";
import { Shown } from "../../parts/shown.tsx";

/** “0x3C44…93BC bought 4 policies, holds bonds of 2 maturities and offers none for sale.” */
export function WalletSentence({ address }: { address: string }) {
  const read = together({
    policies: useLiveRead("/api/v1/policies/by-buyer/{address}", { path: { address }, query: { limit: 25 } }),
    bonds: useLiveRead("/api/v1/bonds/by-owner/{address}", { path: { address } }),
    listings: useLiveRead("/api/v1/marketplace/listings", { query: { seller: address } }),
  });
  return (
    <Shown read={read}>
      {({ policies, bonds, listings }) => (
        <>
          <Address of={address} />{" "}
          {policies.total === 0
            ? "bought no policy"
            : `bought ${counted(policies.total, "policy", "policies")}`}
          , holds{" "}
          {bonds.total === 0 ? "no bond" : `bonds of ${counted(bonds.total, "maturity", "maturities")}`} and
          offers {listings.total === 0 ? "none" : counted(listings.total, "listing", "listings")} for sale.
        </>
      )}
    </Shown>
  );
}

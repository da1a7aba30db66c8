import { place } from "../../data/place.ts";
import { Head } from "../../parts/head.tsx";
import { AddressForm } from "./address-form.tsx";
import { WalletBonds } from "./bonds.tsx";
import { WalletListings } from "./listings.tsx";
import { WalletPolicies } from "./policies.tsx";
import { WalletSentence } from "./sentence.tsx";
import { WalletBar } from "./signing/bar.tsx";
import { isOwn } from "./signing/connection.ts";
import { ActionDialog } from "./signing/dialog.tsx";
import { Offers } from "./signing/offers.tsx";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** What a wallet has: anybody may look at any address, as on the chain itself; whoever holds the wallet can act here. */
export default function Wallet() {
  const address = place.value.detail;
  if (address === undefined || !ADDRESS.test(address)) {
    return (
      <>
        <Head title="Wallet">
          {address === undefined
            ? "See the policies, bonds and listings of any wallet."
            : "An address is 0x and 40 hex digits."}
        </Head>
        <AddressForm />
        <WalletBar address={undefined} />
      </>
    );
  }
  return (
    <>
      <Head title="Wallet">
        <WalletSentence address={address} />
      </Head>
      <WalletBar address={address} />
      <WalletPolicies key={`policies ${address}`} address={address} />
      <WalletBonds key={`bonds ${address}`} address={address} />
      <WalletListings key={`listings ${address}`} address={address} />
      {isOwn(address) && <Offers />}
      <ActionDialog />
    </>
  );
}

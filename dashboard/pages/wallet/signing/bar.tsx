/** Connecting a browser wallet, and what it can do apart from the rows of the tables. */
import { useState } from "preact/hooks";
import { api } from "../../../data/api.ts";
import { Address } from "../../../parts/address.tsx";
import { Section } from "../../../parts/head.tsx";
import { Link } from "../../../parts/link.tsx";
import { buyCover } from "./actions.ts";
import { announced, connect, connection, disconnect, isOwn } from "./connection.ts";
import { explain } from "./explain.ts";
import { forgetKey, keyId } from "./key.ts";
import { begin, isShown, reopen, run } from "./run.ts";

function Choose({ fault }: { fault: string | undefined }) {
  const wallets = announced.value;
  return (
    <Section
      title="Act with your wallet"
      sentence={
        wallets.length === 0
          ? "No browser wallet has announced itself to this page. With one you can buy cover, claim, sell and redeem here."
          : "Buy cover, claim, sell and redeem: each step is shown here before your wallet asks you to sign it."
      }
    >
      <p class="buttons">
        {wallets.map((wallet) => (
          <button key={wallet.uuid} type="button" class="button" onClick={() => void connect(wallet)}>
            Connect {wallet.name}
          </button>
        ))}
      </p>
      {fault !== undefined && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </Section>
  );
}

/** Buys cover: the products are read when they are wanted. */
function BuyButton() {
  const [fault, setFault] = useState<string>();
  const buy = () =>
    api.get("/products").then(
      ({ products }) => {
        setFault(undefined);
        begin(buyCover(products));
      },
      (error: unknown) => setFault(explain(error).reason),
    );
  return (
    <>
      <button type="button" class="button primary" onClick={buy}>
        Buy cover
      </button>
      {fault !== undefined && <span role="alert">{fault}</span>}
    </>
  );
}

function Connected({ name, address }: { name: string; address: string }) {
  const hidden = isShown.value ? undefined : run.value;
  return (
    <Section
      title="Your wallet"
      controls={
        <button type="button" class="plain" onClick={disconnect}>
          Disconnect
        </button>
      }
      sentence={
        <>
          {name} signs for <Address of={address} />.
          {keyId.value !== undefined && (
            <>
              {" "}
              This page holds the API key {keyId.value} in its memory.{" "}
              <button type="button" class="plain" onClick={forgetKey}>
                Revoke it
              </button>
            </>
          )}
        </>
      }
    >
      <p class="buttons">
        <BuyButton />
        {hidden && (
          <button type="button" class="button" onClick={reopen}>
            Under way: {hidden.action.title}
          </button>
        )}
      </p>
    </Section>
  );
}

/** The browser wallet on the page of `address`; undefined where the page shows none. */
export function WalletBar({ address }: { address: string | undefined }) {
  const { value } = connection;
  if (value.state === "none") return <Choose fault={value.fault} />;
  if (value.state === "asking") {
    return (
      <Section
        title="Act with your wallet"
        sentence={`${value.name} asks you whether to connect. Answer there.`}
      >
        {null}
      </Section>
    );
  }
  const { name, wallet } = value;
  if (address !== undefined && isOwn(address)) return <Connected name={name} address={wallet.address} />;
  return (
    <Section
      title="Your wallet"
      sentence={
        <>
          {name} signs for another address. <Link to={`/wallet/${wallet.address}`}>Go to yours</Link>
        </>
      }
    >
      {null}
    </Section>
  );
}

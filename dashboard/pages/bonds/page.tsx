import { Head } from "../../parts/head.tsx";
import { Holders } from "./holders.tsx";
import { Maturities } from "./maturities.tsx";
import { Queue } from "./queue.tsx";
import { BondsSentence } from "./sentence.tsx";
import { Vault } from "./vault.tsx";

/** What the protocol owes, when, to whom, and what it has for it. */
export default function Bonds() {
  return (
    <>
      <Head title="Bonds">
        <BondsSentence />
      </Head>
      <Maturities />
      <Vault />
      <Queue />
      <Holders />
    </>
  );
}

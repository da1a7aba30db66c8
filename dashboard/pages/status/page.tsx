import { useRead } from "../../data/use-read.ts";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { ChainParts } from "./chain-parts.tsx";
import { Pauses } from "./pauses.tsx";
import { Prices } from "./prices.tsx";
import { StatusSentence } from "./sentence.tsx";
import { Wallets } from "./wallets.tsx";

/** Whether the service works, part by part: for an operator under pressure, and for a buyer who wonders. */
export default function Status() {
  const health = useRead("/health");
  return (
    <>
      <Head title="Status">
        <Shown read={health}>{(body) => <StatusSentence health={body} />}</Shown>
      </Head>
      <Shown read={health} height={40}>
        {(body) => (
          <>
            <ChainParts health={body} />
            <Wallets health={body} />
          </>
        )}
      </Shown>
      <Prices />
      <Pauses />
    </>
  );
}

import { useRead } from "../../data/use-read.ts";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Activity } from "./activity.tsx";
import { OverviewFigures } from "./figures.tsx";
import { ProductTable } from "./products.tsx";
import { OverviewSentence } from "./sentence.tsx";
import { Trends } from "./trends.tsx";

export default function Overview() {
  const products = useRead("/api/v1/stats/products");
  return (
    <>
      <Head title="Overview">
        <OverviewSentence />
      </Head>
      <OverviewFigures />
      <Trends />
      <Activity />
      <Shown read={products} height={40}>
        {(stats) => <ProductTable stats={stats} />}
      </Shown>
    </>
  );
}

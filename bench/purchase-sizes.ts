/** What a purchase takes of the chain and of the database's disk; docs/scaling.md counts with these figures. */
import { z } from "zod";
import { CONNECTIONS, inTurn, measureService } from "./measure-purchases.ts";
import { type Agents, buyAtFullLoad } from "./purchase-load.ts";
import { type PurchasesStack, untilFinal } from "./purchases-stack.ts";
import { type Finding, median } from "./report.ts";

const PURCHASES = 2000;
const NAME = "sized";
const receipt = z.object({ gasUsed: z.string() });

type Disk = { readonly log: number; readonly rows: number };

/** Bytes of the write-ahead log so far, and of the ledger's tables with their indexes. */
async function readDisk({ sql }: PurchasesStack): Promise<Disk> {
  const [disk] = await sql<Disk[]>`
    select (pg_current_wal_lsn() - '0/0')::float8 as log, sum(pg_total_relation_size(oid))::float8 as rows
    from pg_class where relnamespace = 'service'::regnamespace and relkind = 'r'`;
  if (!disk) throw new Error("Postgres did not tell its sizes");
  return disk;
}

async function readGas({ node, sql }: PurchasesStack): Promise<number> {
  const rows = await sql<{ hash: string }[]>`
    select t.hash from service.purchase_progress p join service.transaction t on t.intent = p.id
    where p.idempotency_key like ${`${NAME}-%`} and t.hash is not null limit 20`;
  const receipts = await Promise.all(rows.map(({ hash }) => node.ask("eth_getTransactionReceipt", [hash])));
  return median(receipts.map((one) => Number(receipt.parse(one).gasUsed)));
}

/** Gas, bytes of the log and of rows per purchase, from its call until it is final. No indexer runs. */
export async function measureSizes(stack: PurchasesStack, agents: Agents): Promise<Finding[]> {
  await measureService(stack, CONNECTIONS, () => buyAtFullLoad(agents, "before-sizes", inTurn(CONNECTIONS)));
  await untilFinal(stack);
  const before = await readDisk(stack);
  await measureService(stack, PURCHASES, () => buyAtFullLoad(agents, NAME, inTurn(PURCHASES)));
  await untilFinal(stack);
  const after = await readDisk(stack);
  return [
    { what: "gas of a purchase, median", value: await readGas(stack), unit: "gas" },
    {
      what: "write-ahead log per purchase, ledger and queue",
      value: (after.log - before.log) / PURCHASES / 1000,
      unit: "kB",
    },
    {
      what: "rows of the ledger per purchase",
      value: (after.rows - before.rows) / PURCHASES / 1000,
      unit: "kB",
    },
  ];
}

/** What the programs in docs/examples must print, given the API's answers; computed in another way than they do. */
import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { z } from "zod";

/** Reads a path of the API. */
export type Read = (path: string) => Promise<unknown>;

/** Dollars with cents, of an amount with so many decimals: what lies below a cent is left out. */
function dollars(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return `${digits.slice(0, point)}.${digits.slice(point).padEnd(2, "0").slice(0, 2)}`;
}

const vault = z.object({ tvl_usdc: z.string() });

/** Rounded to cents. */
export async function printedTvl(read: Read): Promise<string> {
  const cents = (BigInt(vault.parse(await read("/api/v1/stats/vault")).tvl_usdc) + 5000n) / 10_000n;
  const [whole = "", rest] = dollars(String(cents), 2).split(".");
  return `TVL $${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${rest}\n`;
}

const series = z.object({
  unit: z.string(),
  buckets: z.array(z.object({ day: z.string(), value: z.string(), events: z.int() })),
});

export async function printedWeeks(read: Read): Promise<string> {
  const from = Math.floor(Date.now() / 1000) - 7 * 604_800;
  const path = (metric: string) => `/api/v1/stats/series?metric=${metric}&interval=week&from=${from}`;
  const [premiums, payouts, buyers] = [
    series.parse(await read(path("premiums"))),
    series.parse(await read(path("payouts"))),
    series.parse(await read(path("new_buyers"))),
  ];
  const decimals = ({ unit }: z.infer<typeof series>) => (unit === "usdc" ? 6 : 0);
  const rows = premiums.buckets.map(({ day, value }, n) => {
    const earned = dollars(value, decimals(premiums));
    const [payout, newBuyers] = [payouts.buckets[n], buyers.buckets[n]];
    if (!payout || !newBuyers) throw new Error(`a series has no week of ${day}`);
    const paid = dollars(payout.value, decimals(payouts));
    return {
      week: day,
      "premiums USD": earned,
      "payouts USD": paid,
      "loss ratio": Number(earned) === 0 ? "–" : (Number(paid) / Number(earned)).toFixed(2),
      "new buyers": Number(newBuyers.value),
    };
  });
  const output = new PassThrough();
  new Console(output).table(rows);
  return `block n\n${output.read()}`;
}

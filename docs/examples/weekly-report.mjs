// Premiums, payouts and their ratio by week, as a notebook would have it. `node docs/examples/weekly-report.mjs 12` prints
// the last twelve weeks.
const API = process.env.API ?? "http://127.0.0.1:8080";
const WEEK_SECONDS = 604_800;

async function read(path) {
  const response = await fetch(`${API}${path}`);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}

const weeks = Number(process.argv[2] ?? 8);
const { status, lastSyncedBlock } = await read("/api/v1/indexer/health");
const from = Math.floor(Date.now() / 1000) - (weeks - 1) * WEEK_SECONDS; // its week is the first
const series = (metric) => read(`/api/v1/stats/series?metric=${metric}&interval=week&from=${from}`);
const [premiums, payouts, buyers] = await Promise.all(["premiums", "payouts", "new_buyers"].map(series));

// Premiums are USDC with 6 decimals, payouts whole dollars: both to cents, in integers, so that no digit is lost.
const cents = ({ value }, unit) => (unit === "usdc" ? BigInt(value) / 10_000n : BigInt(value) * 100n);
const dollars = (amount) => `${amount / 100n}.${String(amount % 100n).padStart(2, "0")}`;

const rows = premiums.buckets.map((bucket, index) => {
  const [earned, paid] = [cents(bucket, premiums.unit), cents(payouts.buckets[index], payouts.unit)];
  return {
    week: bucket.day,
    "premiums USD": dollars(earned),
    "payouts USD": dollars(paid),
    "loss ratio": earned === 0n ? "–" : (Number(paid) / Number(earned)).toFixed(2),
    "new buyers": buyers.buckets[index].events,
  };
});
console.log(`block ${lastSyncedBlock}, index ${status}`);
console.table(rows);

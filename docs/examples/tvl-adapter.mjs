// The protocol's total value locked, in the form of a DefiLlama adapter. `node docs/examples/tvl-adapter.mjs` prints it.
import { pathToFileURL } from "node:url";

const API = process.env.API ?? "http://127.0.0.1:8080";

/** Adds the reserve that backs the cover, in USD. It is the protocol's own token, so it belongs under `staking`. */
async function staking(api) {
  const response = await fetch(`${API}/api/v1/stats/vault`);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const { tvl_usdc } = await response.json();
  // Null until an event has named the token's price. USDC has 6 decimals.
  if (tvl_usdc !== null) api.addUSDValue(Number(tvl_usdc) / 1e6);
}

export default {
  methodology:
    "Tokens in the vault that backs the cover, at the newest price that an event of the protocol names.",
  timetravel: false,
  misrepresentedTokens: true,
  base: { tvl: () => ({}), staking },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const usd = (value) => value.toLocaleString("en", { style: "currency", currency: "USD" });
  await staking({ addUSDValue: (value) => console.log(`TVL ${usd(value)}`) });
}

/** The metrics of the protocol's contracts. */
import { counter, gauge } from "./description.ts";

export const contractMetrics = {
  upgrades: counter(
    "contract_upgrades_total",
    "Upgrades of the protocol's contracts that the writer has seen",
  ),
  different: gauge(
    "contract_views_different",
    "Views and constants of the contracts that differed from what the service expects, when they were compared last",
  ),
} as const;

/** Why a policy was paid, is due, or is not: decided from what the index knows at a block. Times are Unix seconds. */
import { CONFIRMATIONS } from "../../lib/indexed/due.ts";
import { MAX_PRICE_AGE, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import type { Evaluation } from "./evaluation-queries.ts";
import { type FallenRound, freshUntil } from "./fallen-rounds.ts";
import type { Obstacle, Verdict } from "./verdict-schemas.ts";

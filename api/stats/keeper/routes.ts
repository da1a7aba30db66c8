import { z } from "@hono/zod-openapi";
import { neverPayableReasons } from "../../../lib/keeper-audit.ts";
import { nullableDecimal } from "../../http/field-types.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { integer } from "../fields.ts";

export const auditResults = [
  "missed",
  "missed_while_down",
  "missed_contract",
  "refused",
  "never_payable",
] as const;

const AuditResult = z
  .object({
    result: z.enum(auditResults).openapi({
      description:
        "`missed`: three observations could have been made, and the policy was not paid; `missed_while_down`: the same, and no keeper of this service was at work when the third could have been made first; `missed_contract`: as `missed`, and the buyer has code, which runs when it receives its bonds and may have refused them in a block; `refused`: the contracts refused the payout for a reason that the audit does not know; `never_payable`: they could have been made but for the reason, or the payout failed for it.",
    }),
    reason: z.enum(neverPayableReasons).nullable().openapi({
      description:
        "Of `never_payable`: `price_oracle` (the token had no price), `capacity` (the bond did not fit into the vault's), `receiver` (the buyer is a contract that took no bond), `no_way` (the keeper contract was paused, or not the keeper of the policy's adapter), `sequencer_down` (or up for less than an hour). Null for the others.",
    }),
    policies: integer("Policies with this result.", 0),
  })
  .openapi("KeeperAuditResult");

export const keeperAuditRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/keeper",
  operationId: "getKeeperAudit",
  tags: ["stats"],
  summary: "Get the keeper's audit",
  description:
    "Was every policy paid that could be? A running audit judges each policy that ended, by the chain alone, every ten minutes and once its block is final. It begins with the first keeper of this service; paid policies are `listClaims`.",
  responses: indexedResponses(
    "The counts.",
    z
      .object({
        audited_to: nullableDecimal(
          "Policies that ended up to this block were audited; null where no keeper of this service has been at work.",
          "1234",
        ),
        results: z
          .array(AuditResult)
          .openapi({ description: "Every result, also those of no policy. Empty before the audit." }),
      })
      .openapi("KeeperAudit"),
  ),
});

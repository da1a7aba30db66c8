import { z } from "@hono/zod-openapi";
import { neverPayableReasons } from "../../../lib/keeper-audit.ts";
import { nullableDecimal } from "../../http/field-types.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { integer } from "../fields.ts";

export const auditResults = ["missed", "missed_while_down", "refused", "never_payable"] as const;

const AuditResult = z
  .object({
    result: z.enum(auditResults).openapi({
      description:
        "`missed`: a trigger would have been paid in some block, and nobody sent one; `missed_while_down`: the same, and no keeper of this service was at work in any of those blocks; `refused`: payable by the audit's reasoning, and refused by the contracts; `never_payable`: three rounds met the price, and no block could have paid.",
    }),
    reason: z.enum(neverPayableReasons).nullable().openapi({
      description:
        "Of `never_payable`: `sequencer_down`, `paused` (the global pause), `sequencer_down_and_paused`, `last_block` (the third round came in the window's last block), `stale` (the newest round was older than an hour in each block that was left), `payout_too_small` (below one dollar). Null for the others.",
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

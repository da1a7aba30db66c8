import { neverPayableReasons } from "../../../lib/keeper-audit.ts";
import type { Api } from "../../http/env.ts";
import type { StatsParts } from "../stats-parts.ts";
import { readKeeperAudit } from "./queries.ts";
import { keeperAuditRoute } from "./routes.ts";

export function addKeeperRoutes(app: Api, { index, responses, deployment }: StatsParts): void {
  const audit = responses.define(
    (_: null) => index.read((db) => readKeeperAudit(db, deployment.chainId)),
    (found) => {
      if (!found) return { audited_to: null, results: [] };
      const { audited_to, missed, missed_while_down, missed_contracts, refused, never_payable } = found;
      const results = [
        { result: "missed" as const, reason: null, policies: missed },
        { result: "missed_while_down" as const, reason: null, policies: missed_while_down },
        { result: "missed_contract" as const, reason: null, policies: missed_contracts },
        { result: "refused" as const, reason: null, policies: refused },
        ...neverPayableReasons.map((reason) => ({
          result: "never_payable" as const,
          reason,
          policies: never_payable[reason] ?? 0,
        })),
      ];
      return { audited_to: String(audited_to), results };
    },
  );
  app.openapi(keeperAuditRoute, async (c) => responses.send(c, await audit(null), keeperAuditRoute));
}

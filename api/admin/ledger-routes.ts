import { createRoute, z } from "@hono/zod-openapi";
import type { FlightPosition } from "../../lib/ledger/report.ts";
import { addressInput } from "../http/field-types.ts";
import { cursorText, limitInput } from "../http/paging.ts";
import { OperatorLedger } from "./ledger-schemas.ts";
import { operatorResponses, operatorRoute } from "./responses.ts";

const flightCursor = cursorText(/^\d{1,17}-\d{1,18}$/, "1767225600000000-17")
  .transform((text): FlightPosition => {
    const [openedAt = "", row = ""] = text.split("-");
    return { openedAt, row };
  })
  .optional();

export const getLedgerRoute = createRoute({
  ...operatorRoute,
  method: "get",
  path: "/api/v1/admin/ledger",
  operationId: "getLedger",
  summary: "Show the relay ledger",
  description:
    "What `npm run ledger` shows: the wallets, today's gas and its budgets, what waits, and a page of the transactions in flight. All of it is read at each call; only `transactions` has further pages.",
  request: {
    query: z.object({
      wallet: addressInput.optional().openapi({ description: "Only this wallet's transactions in flight." }),
      limit: limitInput(),
      cursor: flightCursor,
    }),
  },
  responses: operatorResponses("The ledger now.", OperatorLedger, "validation_error"),
});

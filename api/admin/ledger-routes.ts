import type { FlightPosition } from "../../lib/ledger/report.ts";
import { integerInput } from "../http/field-types.ts";
import { cursorText, limitInput } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { adminOnly, adminPage } from "./failures.ts";
import { Ledger } from "./ledger-schemas.ts";

/** Longest age to ask for, in seconds. */
const MAX_AGE = 999_999_999;

/** Since when the transaction is open, in microseconds of the Unix time, and its row. */
const cursorInput = cursorText(/^\d{1,17}-\d{1,18}$/, "1767225600000000-17")
  .transform((text): FlightPosition => {
    const [openedAt = "", transactionId = ""] = text.split("-");
    return { openedAt: BigInt(openedAt), transactionId: BigInt(transactionId) };
  })
  .optional();

export const flightCursorOf = ({ openedAt, transactionId }: FlightPosition): string =>
  `${openedAt}-${transactionId}`;

export const ledgerRoute = createRoute({
  method: "get",
  path: "/api/v1/admin/ledger",
  operationId: "getLedger",
  tags: ["admin"],
  summary: "Get what is in flight, stuck and spent",
  description:
    "What `npm run ledger` shows, in one snapshot. `cursor` continues `inFlight`; the other lists have their first `limit` entries on every page.",
  security: adminOnly,
  request: {
    query: requestObject({
      minAge: integerInput(0, MAX_AGE, 0).openapi({
        description:
          "Leaves out of `inFlight` and `waiting` what is younger, in seconds. What is left at 60 is stuck.",
      }),
      limit: limitInput(),
      cursor: cursorInput,
    }),
  },
  responses: adminPage(Ledger),
});

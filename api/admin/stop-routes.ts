import { z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import {
  resumeCommand,
  type Stop,
  type StopPosition,
  type StopTarget,
  stopScopes,
  stopSetters,
  subjectOf,
} from "../../lib/ledger/stops.ts";
import { isOneLine } from "../../lib/one-line.ts";
import { failures } from "../http/error-envelope.ts";
import { addressInput, nullableAddress, Timestamp } from "../http/field-types.ts";
import { cursorField, cursorText, cutPage, limitInput, pageFields } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { adminCodes, adminOnly, adminPage } from "./failures.ts";

/** Longest reason, in characters. */
const MAX_REASON = 200;

const Scope = z.enum(stopScopes).openapi({
  description:
    "`global`: no purchase is accepted, and no transaction signed or sent. `keeper`: the keeper sends nothing. `wallet`: a wallet of the service sends nothing, or a client's wallet buys nothing with any of its keys. `key`: one key buys nothing.",
  example: "wallet",
});

const InForce = z
  .object({
    scope: Scope,
    wallet: nullableAddress(
      "The stopped wallet; null in other scopes.",
      "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    ),
    keyId: z
      .int()
      .nullable()
      .openapi({ description: "The stopped key; null in other scopes.", example: null }),
    reason: z.string().openapi({ description: "As the operator wrote it.", example: "asked by its owner" }),
    since: Timestamp,
    setBy: z.enum(stopSetters).openapi({
      description: "`api`: by this API, with the admin token. `command line`: by `npm run ledger`.",
      example: "api",
    }),
    resume: z.string().openapi({
      description: "The command that lifts the stop. No call of this API does.",
      example: "npm run ledger -- resume wallet 0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    }),
  })
  .openapi("StopInForce");

const StopList = z
  .object({
    count: pageFields.count,
    limit: pageFields.limit,
    nextCursor: cursorField,
    stops: z.array(InForce),
  })
  .openapi("StopList");

const NewStop = requestObject({
  scope: Scope,
  wallet: addressInput.optional().openapi({
    description: "Required with scope `wallet`, and refused with any other.",
  }),
  keyId: z.int().min(1).max(999_999_999_999_999).optional().openapi({
    description: "Required with scope `key`, and refused with any other.",
    example: 1,
  }),
  reason: z
    .string()
    .max(MAX_REASON)
    .refine((text) => text.trim() !== "", "must say why, for the next operator")
    .refine(isOneLine, "must be one line of plain text")
    .transform((text) => text.trim())
    .openapi({
      description: `Why, for the next operator: one line, at most ${MAX_REASON} characters.`,
      example: "asked by its owner",
    }),
})
  .superRefine(({ scope, wallet, keyId }, context) => {
    for (const [field, value, owner] of [
      ["wallet", wallet, "wallet"],
      ["keyId", keyId, "key"],
    ] as const) {
      if ((value !== undefined) === (scope === owner)) continue;
      const message =
        scope === owner ? `must be given with scope ${owner}` : `belongs to scope ${owner} alone`;
      context.addIssue({ code: "custom", path: [field], message });
    }
  })
  .openapi("NewStop");

const SetStop = InForce.extend({
  ok: z.literal(true),
  alreadyStopped: z.boolean().openapi({
    description:
      "Whether the stop was in force before: then `reason` and `since` are those of the first call.",
    example: false,
  }),
  warning: z.string().nullable().openapi({
    description: "Set if no writer sends from the wallet and it has no API key: the address may be wrong.",
    example: null,
  }),
}).openapi("SetStop");

const cursorInput = cursorText(
  /^(global-|keeper-|wallet-0x[0-9a-f]{40}|key-[1-9]\d{0,14})$/,
  "wallet-0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
)
  .transform((text): StopPosition | undefined => {
    const [name, subject = ""] = text.split("-");
    const scope = stopScopes.find((known) => known === name);
    return scope && { scope, subject };
  })
  .optional();

export const stopsRoute = createRoute({
  method: "get",
  path: "/api/v1/admin/stops",
  operationId: "listStops",
  tags: ["admin"],
  summary: "List what is stopped",
  description: "The stops in force: the global one, the keeper's, keys, wallets.",
  security: adminOnly,
  request: { query: requestObject({ limit: limitInput(), cursor: cursorInput }) },
  responses: adminPage(StopList),
});

const body = (description: string) => ({ description, content: { "application/json": { schema: SetStop } } });

export const stopRoute = createRoute({
  method: "post",
  path: "/api/v1/admin/stops",
  operationId: "stop",
  tags: ["admin"],
  summary: "Stop spending",
  description:
    "Takes effect before the next transaction is signed or sent, in every writer. Idempotent: a second call changes nothing. Resuming takes the command in `resume`.",
  security: adminOnly,
  request: {
    body: {
      required: true,
      content: {
        "application/json": {
          schema: NewStop,
          examples: {
            global: { summary: "Everything", value: { scope: "global", reason: "an odd price" } },
            keeper: { summary: "The keeper", value: { scope: "keeper", reason: "a wrong price feed" } },
            wallet: {
              summary: "A wallet",
              value: {
                scope: "wallet",
                wallet: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
                reason: "asked by its owner",
              },
            },
            key: { summary: "A key", value: { scope: "key", keyId: 1, reason: "leaked" } },
          },
        },
      },
    },
  },
  responses: {
    201: body("Stopped by this call."),
    200: body("It was stopped already."),
    ...failures(...adminCodes, "key_not_found", "payload_too_large", "unsupported_media_type"),
  },
});

/** The target of a valid body. */
export function targetOf({ scope, wallet, keyId }: z.output<typeof NewStop>): StopTarget {
  switch (scope) {
    case "global":
    case "keeper":
      return { scope };
    case "wallet":
      if (wallet !== undefined) return { scope, wallet };
      break;
    case "key":
      if (keyId !== undefined) return { scope, keyId };
      break;
  }
  throw new Error(`a valid body of scope ${scope} has no target`);
}

export function stopBody(stop: Stop): z.infer<typeof InForce> {
  return {
    scope: stop.scope,
    wallet: stop.scope === "wallet" ? getAddress(stop.wallet) : null,
    keyId: stop.scope === "key" ? stop.keyId : null,
    reason: stop.reason,
    since: stop.since.toISOString(),
    setBy: stop.setBy,
    resume: resumeCommand(stop),
  };
}

/** `rows` has one stop more than the page, unless the list ends there. */
export function stopsBody(rows: readonly Stop[], limit: number): z.infer<typeof StopList> {
  const { rows: stops, next } = cutPage(rows, limit, (stop) => `${stop.scope}-${subjectOf(stop)}`);
  return { count: stops.length, limit, nextCursor: next, stops: stops.map(stopBody) };
}

import { createRoute, z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import {
  isOneLine,
  MAX_REASON,
  resumeCommand,
  type Stop,
  type StopTarget,
  stopScopes,
} from "../../lib/ledger/stops.ts";
import { addressInput, nullableAddress, Timestamp } from "../http/field-types.ts";
import { cursorField, cursorText, limitInput } from "../http/paging.ts";
import { count, operatorFailures, operatorResponses, operatorRoute, pageLimit } from "./responses.ts";

const scope = z.enum(stopScopes).openapi({
  description:
    "`global`: no purchase is accepted, no transaction signed or sent. `keeper`: it triggers and closes no policies. `wallet`: the same for a wallet of the service, or for the keys of a client's wallet. `key`: the same for one key.",
  example: "key",
});
const MAX_KEY_ID = 999_999_999_999_999;

const OperatorStop = z
  .object({
    scope,
    wallet: nullableAddress("The stopped wallet; null unless the scope is `wallet`."),
    keyId: z.int().nullable().openapi({
      description: "The stopped key; null unless the scope is `key`.",
      example: 1,
    }),
    reason: z.string().openapi({ description: "The operator's words.", example: "leaked" }),
    since: Timestamp.openapi({ description: "When it was set." }),
    setBy: z.enum(["api", "command line"]).openapi({
      description: "`api`: by this API, with the admin token. `command line`: by `npm run ledger`.",
      example: "api",
    }),
    resume: z.string().openapi({
      description: "The command that lifts it. Nothing in this API does.",
      example: "npm run ledger -- resume key 1",
    }),
  })
  .openapi("OperatorStop");

export function operatorStopBody(stop: Stop): z.infer<typeof OperatorStop> {
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

const stopCursor = cursorText(
  /^(global|keeper|key-\d{1,19}|wallet-0x[0-9a-f]{40})$/,
  `wallet-0x${"ab".repeat(20)}`,
)
  .transform((text) => {
    const [name = "", subject = ""] = text.split("-");
    return { scope: stopScopes.find((known) => known === name) ?? "global", subject };
  })
  .optional();

/** The cursor of a stop, as `stopCursor` reads it. */
export const stopCursorOf = (stop: Stop): string => {
  if (stop.scope === "wallet") return `wallet-${stop.wallet}`;
  return stop.scope === "key" ? `key-${stop.keyId}` : stop.scope;
};

export const listStopsRoute = createRoute({
  ...operatorRoute,
  method: "get",
  path: "/api/v1/admin/stops",
  operationId: "listStops",
  summary: "List the stops in force",
  description: "The global one first, then the keeper's, those of keys, and those of wallets.",
  request: { query: z.object({ limit: limitInput(), cursor: stopCursor }) },
  responses: operatorResponses(
    "One page.",
    z
      .object({ count, limit: pageLimit, nextCursor: cursorField, stops: z.array(OperatorStop) })
      .openapi("OperatorStopList"),
    "validation_error",
  ),
});

const NewStop = z
  .object({
    scope,
    wallet: addressInput
      .optional()
      .openapi({ description: "With the scope `wallet`, and only with it: the wallet to stop." }),
    keyId: z.int().min(1).max(MAX_KEY_ID).optional().openapi({
      description: "With the scope `key`, and only with it: the key to stop.",
      example: 1,
    }),
    reason: z
      .string()
      .max(MAX_REASON)
      .refine((text) => text.trim() !== "" && isOneLine(text), "must be one line of plain text")
      .transform((text) => text.trim())
      .openapi({
        description: `For the next operator: one line of plain text, at most ${MAX_REASON} characters.`,
        example: "leaked",
      }),
  })
  .superRefine((body, context) => {
    for (const name of ["wallet", "key"] as const) {
      const path = name === "key" ? "keyId" : name;
      if ((body[path] !== undefined) === (body.scope === name)) continue;
      const rule = body.scope === name ? "must be given with" : "may only be given with";
      context.addIssue({ code: "custom", path: [path], message: `${rule} the scope ${name}` });
    }
  })
  .openapi("NewStop", { example: { scope: "key", keyId: 1, reason: "leaked" } });

/** The target of a valid body. */
export function targetOf({ scope, wallet, keyId }: z.output<typeof NewStop>): StopTarget {
  if (scope === "wallet" && wallet !== undefined) return { scope, wallet };
  if (scope === "key" && keyId !== undefined) return { scope, keyId };
  if (scope === "global" || scope === "keeper") return { scope };
  throw new Error(`a stop of the scope ${scope} has no target`);
}

const StopSet = z
  .object({
    ok: z.literal(true),
    alreadyStopped: z.boolean().openapi({
      description: "Whether it was in force before. Then it has kept its reason and its time.",
      example: false,
    }),
    known: z.boolean().openapi({
      description:
        "False for a wallet that is none of the service's and has no API key: the stop is for later.",
      example: true,
    }),
    stop: OperatorStop,
  })
  .openapi("StopSet");

export const setStopRoute = createRoute({
  ...operatorRoute,
  method: "post",
  path: "/api/v1/admin/stops",
  operationId: "setStop",
  summary: "Stop spending",
  description:
    "Takes effect before the next transaction is signed or sent, in every writer; new purchases are 503 `purchases_stopped`. What is signed and in no block yet is replaced by an empty transfer, for a key or a wallet; what a node has received may still be mined. Idempotent. This API cannot lift a stop: the answer has the command that does.",
  request: { body: { required: true, content: { "application/json": { schema: NewStop } } } },
  responses: {
    200: {
      description: "It was stopped already.",
      content: { "application/json": { schema: StopSet } },
    },
    201: { description: "It is stopped now.", content: { "application/json": { schema: StopSet } } },
    ...operatorFailures("validation_error", "key_not_found", "payload_too_large", "unsupported_media_type"),
  },
});

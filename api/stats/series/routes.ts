import { z } from "@hono/zod-openapi";
import { nullableBytes32, UnixSeconds } from "../../http/field-types.ts";
import { type Period, periodInput, refuseEmptyPeriod } from "../../http/paging.ts";
import { productInput } from "../../http/product-input.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { Day, integer, signed } from "../fields.ts";
import { intervals } from "./buckets.ts";

/** Metrics of single products. */
export const productMetrics = ["premiums", "cover", "policies", "payouts", "triggers"] as const;
export const metrics = [
  ...productMetrics,
  ...(["burns", "bond_sales", "new_buyers", "returning_buyers"] as const),
] as const;
export type Metric = (typeof metrics)[number];

export const units = ["usdc", "dollars", "token", "count"] as const;

/** The most buckets of a response: the days of a leap year. */
export const MAX_BUCKETS = 366;
/** Buckets of a response for which no `from` was given. */
export const USUAL_BUCKETS = 30;

const isOfProduct = (metric: Metric): boolean => productMetrics.some((name) => name === metric);

/** Only purchases and triggers have a product. */
function refuseProduct(
  { metric, product }: { metric: Metric; product?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if (product === undefined || isOfProduct(metric)) return;
  context.addIssue({
    code: "custom",
    path: ["product"],
    message: `must be absent for ${metric}: only ${productMetrics.join(", ")} are of a product`,
  });
}

export const seriesRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/series",
  operationId: "getSeries",
  tags: ["stats"],
  summary: "Get a metric by day, week or month",
  description: `Whole buckets of UTC time, by block times: days, weeks from Monday on, months. The series has every bucket from the one with \`from\` to the one with the last second before \`to\`, or with the indexed block if that is earlier; buckets without events are zero. It is empty where \`from\` is later than the indexed block. Without \`from\` it has ${USUAL_BUCKETS} buckets. More than ${MAX_BUCKETS} buckets are refused with 400, which names the earliest \`from\` for this \`to\`.`,
  request: {
    query: requestObject({
      metric: z.enum(metrics).openapi({
        description:
          "`premiums`: premiums paid; `cover`: coverage sold; `policies`: policies bought; `payouts`: bonds issued for triggered policies; `triggers`: triggered policies; `burns`: tokens burned; `bond_sales`: prices of sold listings; `new_buyers`: buyers whose first policy was bought in the bucket; `returning_buyers`: buyers who bought in the bucket, and for the first time in an earlier one. A bucket's new and returning buyers are together all that bought in it.",
        example: "premiums",
      }),
      interval: z.enum(intervals).default("day").openapi({ description: "Length of the buckets." }),
      ...periodInput,
      product: productInput.optional().openapi({
        description: `Only of this product's id; for ${productMetrics.map((name) => `\`${name}\``).join(", ")}.`,
      }),
    }).superRefine((query: { metric: Metric; product?: unknown } & Period, context) => {
      refuseEmptyPeriod(query, context);
      refuseProduct(query, context);
    }),
  },
  responses: indexedResponses(
    "The buckets, oldest first.",
    z
      .object({
        metric: z.enum(metrics),
        interval: z.enum(intervals),
        product: nullableBytes32("Null for all products."),
        unit: z.enum(units).openapi({
          description:
            "Of `value`: `usdc` has 6 decimals, `token` 18, `dollars` are whole dollars of face value.",
          example: "usdc",
        }),
        count: integer("Buckets in this response.", 1),
        buckets: z.array(
          z
            .object({
              day: Day.openapi({ description: "First UTC day of the bucket." }),
              start: signed("Start of the bucket, Unix seconds.", "1767225600"),
              end: UnixSeconds.openapi({
                description: "Its end, which belongs to the next bucket.",
                example: "1767312000",
              }),
              complete: z.boolean().openapi({ description: "Whether it ended before the indexed block." }),
              value: z.string().regex(/^\d+$/).openapi({ description: "In `unit`.", example: "52600000" }),
              events: integer("Policies, triggers, burns, sales or buyers behind the value.", 1),
            })
            .openapi("SeriesBucket"),
        ),
      })
      .openapi("Series"),
    "validation_error",
  ),
});

/** The OpenAPI document describes every event that subscribers receive. */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { allEventTypes, componentOf } from "../../api/webhooks/event-schemas.ts";
import { eventFaults, fetchOpenApi, type OpenApi } from "../support/openapi.ts";
import { startApi, type TestApi } from "./support/api.ts";

let api: TestApi;
let document: OpenApi;
beforeAll(async () => {
  api = await startApi();
  document = await fetchOpenApi(api.stack.apiUrl);
});

const component = z.object({
  description: z.string(),
  example: z.looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()) }),
  properties: z.looseObject({ data: z.looseObject({ properties: z.record(z.string(), z.unknown()) }) }),
});
const whole = z.object({
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
  paths: z.object({
    "/api/v1/webhooks": z.object({
      post: z.object({
        callbacks: z.object({
          event: z.record(
            z.string(),
            z.object({
              post: z.object({
                parameters: z.array(z.looseObject({ name: z.string(), required: z.boolean() })),
                requestBody: z.object({
                  content: z.object({
                    "application/json": z.object({
                      schema: z.object({ oneOf: z.array(z.object({ $ref: z.string() })) }),
                    }),
                  }),
                }),
                responses: z.record(z.string(), z.unknown()),
              }),
            }),
          ),
        }),
      }),
    }),
  }),
});
const read = async () => whole.parse((await api.request("/openapi.json")).json);

test.each(allEventTypes)(
  "%s has its own component, with an example that has all its fields",
  async (type) => {
    const { schemas } = (await read()).components;
    const { example, properties } = component.parse(schemas[componentOf(type)]);
    expect(example.type).toBe(type);
    expect(eventFaults(document, example)).toEqual([]);
    expect(Object.keys(example.data).sort()).toEqual(Object.keys(properties.data.properties).sort());
  },
);

test("the checker finds missing, unknown and invalid fields of an event", () => {
  const example = component.parse(document.components.schemas.ListingCreatedEvent).example;
  const { price: _, ...cheap } = example.data;
  const faults = (changes: object) => eventFaults(document, { ...example, ...changes }).join("\n");
  expect(faults({ data: cheap })).toMatch(/data\.price: is missing/);
  expect(faults({ data: { ...example.data, extra: 1 } })).toMatch(/data\.extra: is not in the document/);
  expect(faults({ data: { ...example.data, price: 600 } })).toMatch(/data\.price: must be of type string/);
  expect(faults({ blockNumber: null })).toMatch(/blockNumber/);
  expect(faults({ id: "evt_1" })).toMatch(/id: must match/);
  expect(faults({ version: 2 })).toMatch(/version: must be one of 1/);
  expect(faults({ type: "policy_sold" })).toMatch(/has no event policy_sold/);
});

test("POST /api/v1/webhooks documents its callback: every event, and the headers of a delivery", async () => {
  const { event } = (await read()).paths["/api/v1/webhooks"].post.callbacks;
  const [[address, callback] = []] = Object.entries(event);
  expect(address).toBe("{$request.body#/url}");
  expect(callback?.post.requestBody.content["application/json"].schema.oneOf.map(({ $ref }) => $ref)).toEqual(
    allEventTypes.map((type) => `#/components/schemas/${componentOf(type)}`),
  );
  expect(callback?.post.parameters.map(({ name, required }) => [name, required])).toEqual([
    ["X-Service-Signature", true],
    ["X-Service-Signature-Previous", false],
    ["webhook-id", true],
    ["webhook-timestamp", true],
    ["webhook-signature", true],
    ["traceparent", false],
  ]);
  expect(Object.keys(callback?.post.responses ?? {})).toEqual(["2XX"]);
});

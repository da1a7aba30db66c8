/** Tools for what a wallet signs itself: they prepare transactions, and report the sent ones. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { requestObject } from "../http/request-object.ts";
import { type CallApi, toolResult } from "./api-call.ts";
import { bonds, digits, epochId, objectInput, policyId, product, toolInput, usdc, wallet } from "./inputs.ts";

const from = wallet("The wallet that will sign and send the transactions.");
const listingId = digits().describe("The listing's id.");
const totalPriceUsdc = usdc("The price of the whole listing");
const txHash = z.string().describe("The hash of the sent transaction.");
const ofKey = wallet("The wallet whose bonds were moved: the API key's.");

/** A transaction that a wallet has sent, by what it did. */
const sent = z
  .discriminatedUnion("action", [
    requestObject({
      action: z.literal("redeem"),
      txHash,
      wallet: ofKey,
      epochId,
      usdAmount: bonds("Redeemed bonds"),
    }),
    requestObject({
      action: z.literal("list"),
      txHash,
      wallet: ofKey,
      epochId,
      amount: bonds("Listed bonds"),
      totalPriceUsdc,
    }),
    requestObject({
      action: z.literal("buy"),
      txHash,
      wallet: ofKey,
      listingId,
      amount: bonds("Bought bonds"),
      totalPaidUsdc: usdc("The price and the buyer's fee"),
    }),
  ])
  .describe("What the transaction did.");

/** The report of a sent transaction as the API takes it. */
function reportOf({ wallet: holder, ...report }: z.output<typeof sent>): { path: string; body: object } {
  const { action, ...content } = report;
  switch (action) {
    case "redeem":
      return { path: "/api/v1/redeem", body: { ...content, ownerAddress: holder } };
    case "list":
      return { path: "/api/v1/marketplace/list", body: { ...content, sellerAddress: holder } };
    case "buy":
      return { path: "/api/v1/marketplace/buy", body: { ...content, buyerAddress: holder } };
  }
}

const PREPARED =
  "Nothing is sent: the answer has the calldata of each step for the wallet to sign, what stands in the way (`issues`), and a simulation.";
const readOnly = { readOnlyHint: true, openWorldHint: false } as const;

/** Adds the tools. To prepare needs no key; to report needs one of the wallet. */
export function addWalletTools(server: McpServer, call: CallApi): void {
  const post = async (path: string, body: object) => toolResult(await call({ method: "POST", path, body }));

  server.registerTool(
    "prepare_redeem",
    {
      title: "Prepare the redemption of bonds",
      description: `For matured bonds. ${PREPARED}`,
      inputSchema: toolInput({ from, epochId, usdAmount: bonds("Bonds to redeem") }),
      annotations: readOnly,
    },
    (request) => post("/api/v1/redeem/prepare", request),
  );
  server.registerTool(
    "prepare_list",
    {
      title: "Prepare the sale of bonds",
      description: `To list bonds on the marketplace. ${PREPARED}`,
      inputSchema: toolInput({ from, epochId, amount: bonds("Bonds to sell"), totalPriceUsdc }),
      annotations: readOnly,
    },
    (request) => post("/api/v1/marketplace/list/prepare", request),
  );
  server.registerTool(
    "prepare_buy",
    {
      title: "Prepare the purchase of bonds",
      description: `To buy a listing of the marketplace. ${PREPARED}`,
      inputSchema: toolInput({ from, listingId }),
      annotations: readOnly,
    },
    (request) => post("/api/v1/marketplace/buy/prepare", request),
  );
  server.registerTool(
    "prepare_withdraw",
    {
      title: "Prepare the withdrawal of a seller's proceeds",
      description: `A sale credits its seller on the marketplace; this takes all that is credited. ${PREPARED}`,
      inputSchema: toolInput({ from }),
      annotations: readOnly,
    },
    (request) => post("/api/v1/marketplace/withdraw/prepare", request),
  );
  server.registerTool(
    "prepare_claim",
    {
      title: "Prepare the trigger of a policy",
      description: `One observation of a policy whose price has fallen far enough: any wallet may send it, as a transaction with the step's gas limit. The third in a row, each a minute and a newer price after the one before, pays the buyer. ${PREPARED}`,
      inputSchema: toolInput({ from, product, policyId }),
      annotations: readOnly,
    },
    ({ product: productId, ...request }) => post("/api/v1/triggers/prepare", { productId, ...request }),
  );
  server.registerTool(
    "report_transaction",
    {
      title: "Report a sent transaction",
      description:
        "After the wallet has sent a redemption, a listing or a purchase of bonds: verifies it on the chain and records it. While it is pending, report it again later. Needs a key of the wallet.",
      inputSchema: toolInput({ transaction: objectInput(sent) }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
    },
    ({ transaction }) => {
      const { path, body } = reportOf(transaction);
      return post(path, body);
    },
  );
}

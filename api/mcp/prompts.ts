/** Two tasks that a person can start from a menu of the host. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const asUser = (text: string) => ({
  messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
});

export function addPrompts(server: McpServer): void {
  server.registerPrompt(
    "cover_a_position",
    {
      title: "Cover a position",
      description: "Choose and buy cover for a position in BTC or ETH.",
      argsSchema: z.object({
        position: z.string().describe('What to cover, such as "2 BTC for the next day".'),
        budget: z.string().describe('The most that the premium may be, such as "50 USDC".'),
      }),
    },
    ({ position, budget }) =>
      asUser(
        `Cover this position: ${position}. The premium may be at most ${budget}.

1. Read \`products\` and choose those whose asset and window fit.
2. Get a \`quote\` for each and compare premium, payout and the fall that triggers it. Amounts are USDC base units.
3. Show me the choice, and wait for my agreement.
4. Buy with \`buy_policy\`: \`maxPremium\` is the quoted premium that I agreed to, \`requestId\` a new UUID. If the answer is lost or pending, call again with the same \`requestId\`.
5. Tell me policy, premium paid, trigger price and end of the window.`,
      ),
  );
  server.registerPrompt(
    "review_my_cover",
    {
      title: "Review my cover",
      description: "What the key's wallet has covered, what is due, and what its bonds are worth.",
      argsSchema: z.object({ wallet: z.string().describe("The wallet's address.") }),
    },
    ({ wallet }) =>
      asUser(
        `Review the cover of the wallet ${wallet}.

1. Read the resources cover://wallets/${wallet}/policies and cover://wallets/${wallet}/bonds.
2. Name the active policies with their distance to the trigger and the time left, those that are due, and those that were paid.
3. For a policy that is due, offer \`prepare_claim\`. For matured bonds, offer \`prepare_redeem\`; for others, compare \`listings\` with their face value.
4. Sign and send nothing: I sign with my wallet. Afterwards report what I sent with \`report_transaction\`.`,
      ),
  );
}

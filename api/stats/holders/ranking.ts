/** Lists of wallets by an amount, the largest first. */
import { cursorText, limitInput } from "../../http/paging.ts";

/** The amount and the address (lowercase) of the previous page's last row. */
export type Place = { readonly amount: bigint; readonly address: string };

export type RankingPage = { readonly limit: number; readonly cursor?: Place | undefined };

const placeCursor = cursorText(
  /^\d{1,78}-0x[0-9a-f]{40}$/,
  "66000-0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
)
  .transform((text): Place => {
    const [amount = "", address = ""] = text.split("-");
    return { amount: BigInt(amount), address };
  })
  .optional();

/** The query's paging. There is no offset: amounts change, so that it would skip wallets. */
export const rankingInput = { limit: limitInput(), cursor: placeCursor };

export const placeOf = ({ amount, address }: Place): string => `${amount}-${address}`;

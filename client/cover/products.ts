/** Products and quotes. */
import { type Context, given, type Options, type Read, read } from "./context.ts";

export type Product = Read<"/products">["products"][number];
/** Premium and payout, USDC with 6 decimals, at a block. */
export type Quote = Read<"/products/{productId}/quote">;

/** Whether a product is named by its id, the hash of its name. */
export const isProductId = (product: string): boolean => product.startsWith("0x");

/** How the API's calls name a product. */
export const productInput = (
  product: string,
): { readonly productId: string } | { readonly productName: string } =>
  isProductId(product) ? { productId: product } : { productName: product };

/** All products, whether or not they are sold now. @throws ApiError, ConnectionError */
export const listProducts = async (context: Context, options: Options = {}): Promise<readonly Product[]> =>
  (await read(context, "/products", given(options))).products;

async function productIdOf(context: Context, product: string, options: Options): Promise<string> {
  if (isProductId(product)) return product;
  const found = (await listProducts(context, options)).find(({ name }) => name === product);
  if (!found) throw new Error(`there is no product ${product}`);
  return found.productId;
}

/**
 * What a cover costs and pays.
 * @param product name (`FLASHBTC24-001`) or id
 * @param coverageAmount USDC, 6 decimals
 * @throws ApiError `invalid_product`, `validation_error` …; ConnectionError
 */
export async function getQuote(
  context: Context,
  { product, coverageAmount }: { readonly product: string; readonly coverageAmount: bigint },
  options: Options = {},
): Promise<Quote> {
  const path = { productId: await productIdOf(context, product, options) };
  const query = { coverageAmount: String(coverageAmount) };
  return read(context, "/products/{productId}/quote", { path, query, ...given(options) });
}

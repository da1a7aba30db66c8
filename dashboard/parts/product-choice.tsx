/** The choice of a product in the address. */
import type { Schema } from "../../client/index.ts";
import { place } from "../data/place.ts";
import { productLabel } from "../format/names.ts";
import { Choices } from "./choices.tsx";

type Product = Schema<"Product">;

const ALL = "all";
/** A product's name in an address. */
const nameOf = ({ name, productId }: Product): string => name ?? productId;

/** The product that the address names; undefined for all of them, and for a name that no product has. */
export const productInView = (products: readonly Product[]): Product | undefined =>
  products.find((product) => nameOf(product) === place.value.view.get("product"));

/** Links to the view of each product that is on sale, and of the one that is shown. */
export function ProductChoice({ products }: { products: readonly Product[] }) {
  const chosen = productInView(products);
  const offered = products.filter((product) => product.active || product === chosen);
  return (
    <Choices
      name="product"
      label="Product"
      chosen={chosen ? nameOf(chosen) : ALL}
      options={[
        { value: ALL, label: "All" },
        ...offered.map((product) => ({ value: nameOf(product), label: productLabel(product.name) })),
      ]}
    />
  );
}

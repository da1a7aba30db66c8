import { Percent } from "../../parts/percent.tsx";
import { ofFace } from "./face.ts";

/** A price per bond as a percentage of its face value; a dash where the index does not know the bond. */
export const OfFace = ({ unitPrice }: { unitPrice: string | null }) => (
  <Percent
    ratio={unitPrice === null ? null : ofFace(unitPrice)}
    none="The listing is older than the first indexed block."
  />
);

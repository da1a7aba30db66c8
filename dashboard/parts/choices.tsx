import { place, viewHref } from "../data/place.ts";
import { Link } from "./link.tsx";

/**
 * A choice in the address, as links: each view can be shared and opened in another tab. The first option is the default, and
 * leaves the address short.
 * @param resets what another view does not have in its address: the cursor of a list
 */
export function Choices({
  name,
  label,
  options,
  chosen,
  resets,
}: {
  name: string;
  label: string;
  options: readonly { readonly value: string; readonly label: string }[];
  chosen: string;
  resets?: string;
}) {
  void place.value; // the links follow the address
  return (
    <nav class="choices" aria-label={label}>
      {options.map(({ value, label: text }, index) => (
        <Link
          key={value}
          to={viewHref({
            [name]: index === 0 ? undefined : value,
            ...(resets === undefined ? {} : { [resets]: undefined }),
          })}
          current={value === chosen}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

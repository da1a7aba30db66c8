import { place, viewHref } from "../data/place.ts";
import { Link } from "./link.tsx";

/**
 * A choice in the address, as links: each view can be shared and opened in another tab. The first option is the default, and
 * leaves the address short.
 */
export function Choices({
  name,
  label,
  options,
  chosen,
}: {
  name: string;
  label: string;
  options: readonly { readonly value: string; readonly label: string }[];
  chosen: string;
}) {
  void place.value; // the links follow the address
  return (
    <nav class="choices" aria-label={label}>
      {options.map(({ value, label: text }, index) => (
        <Link
          key={value}
          to={viewHref({ [name]: index === 0 ? undefined : value })}
          current={value === chosen}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

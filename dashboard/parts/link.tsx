import type { ComponentChildren } from "preact";
import { go } from "../data/place.ts";

type LinkProps = {
  readonly to: string;
  readonly title?: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
};

/** Whether a click wants something else than to follow the link here: a new tab, a download. */
const isPlain = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent) =>
  button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;

/** A link to another page or view of the dashboard, followed without loading the page again. */
export function Link({ to, title, class: name, current = false, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (!isPlain(event)) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} title={title} class={name} aria-current={current ? "page" : undefined} onClick={follow}>
      {children}
    </a>
  );
}

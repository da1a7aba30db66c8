/** Where the labels of levels stand, so that none covers another. */

/** A label as it would stand at the right end of its line; all in pixels, `y` grows downwards. */
export type Label = { readonly y: number; readonly width: number };

/**
 * The right end of each label, `left` and `right` being the ends of the lines: labels whose lines are closer than `height`
 * stand beside each other, the first at the right. Undefined for one that has no room; the table beside the plot has it.
 */
export function placeLabels(
  labels: readonly Label[],
  { left, right, height, gap }: { left: number; right: number; height: number; gap: number },
): (number | undefined)[] {
  const placed: { readonly y: number; readonly from: number }[] = [];
  return labels.map(({ y, width }) => {
    const near = placed.filter((other) => Math.abs(other.y - y) < height);
    const end = near.length === 0 ? right : Math.min(...near.map(({ from }) => from)) - gap;
    if (end - width < left) return undefined;
    placed.push({ y, from: end - width });
    return end;
  });
}

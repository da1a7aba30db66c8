import { useEffect, useRef } from "preact/hooks";
import type { Drawing, draw } from "./draw.ts";
import type { Picture } from "./points.ts";

/**
 * Draws a picture into the returned element, and again when it changes.
 * @param drawer the module's function, once it is loaded
 * @param point the point at the crosshair
 * @param onPoint hears which point the pointer is at
 */
export function useDrawing(
  drawer: typeof draw | undefined,
  picture: Picture,
  point: number | undefined,
  onPoint: (index: number | undefined) => void,
) {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  useEffect(() => {
    if (!drawer || !host.current) return;
    const drawn = drawer(host.current, picture, onPoint);
    drawing.current = drawn;
    return () => {
      drawn.destroy();
      drawing.current = undefined;
    };
  }, [drawer, picture, onPoint]);
  useEffect(() => drawing.current?.point(point), [point]);
  return host;
}

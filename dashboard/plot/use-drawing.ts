import { useEffect, useRef } from "preact/hooks";
import type { Drawing } from "./draw.ts";
import type { Picture } from "./points.ts";

/**
 * Draws a picture into the returned element, and again when it changes.
 * @param point the point at the crosshair
 * @param onPoint hears which point the pointer is at
 */
export function useDrawing(
  picture: Picture,
  point: number | undefined,
  onPoint: (index: number | undefined) => void,
) {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  useEffect(() => {
    let ended = false;
    // The module is a file of its own; it is loaded once.
    void import("./draw.ts").then(({ draw }) => {
      if (!ended && host.current) drawing.current = draw(host.current, picture, onPoint);
    });
    return () => {
      ended = true;
      drawing.current?.destroy();
      drawing.current = undefined;
    };
  }, [picture, onPoint]);
  useEffect(() => drawing.current?.point(point), [point]);
  return host;
}

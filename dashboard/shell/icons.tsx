import type { PageName } from "../page-list.ts";

/** One stroke per page, on a grid of 20. */
const paths: Readonly<Record<PageName, string>> = {
  overview: "M3 10.5 10 4l7 6.5M5.5 9v7.5h9V9",
  cover: "M10 2.5 4 4.7v4.6c0 4 2.6 6.7 6 8.2 3.4-1.5 6-4.2 6-8.2V4.7z",
  claims: "M3 5l4.5 5 3-3 6 7.5M12.5 14.5h4v-4",
  bonds: "M4 3.5h9l3 3v10H4zM7 9h6M7 12.5h6",
  market: "M3.5 7.5h11l-3-3M16.5 12.5h-11l3 3",
  token: "M10 3c.5 3.5 4.5 4.5 4.5 9a4.5 4.5 0 0 1-9 0c0-2 1-3 2-4.5C8 9 9 9.5 9 9.5 9.5 7.5 9 5 10 3z",
  wallet: "M3.5 6.500v9h13v-9zm0 0 9-3v3M13 11h1.5",
  status: "M2.5 10.500h4l2-6 3.5 11 2-5h3.5",
  operator: "M3 6h7m4 0h3M3 14h3m4 0h7M12 4v4M8 12v4",
};

export const Icon = ({ of: page }: { of: PageName }) => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d={paths[page]} />
  </svg>
);

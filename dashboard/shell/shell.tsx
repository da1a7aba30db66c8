import { Link } from "../parts/link.tsx";
import { Footer } from "./footer.tsx";
import { Navigation } from "./navigation.tsx";
import { PageView } from "./page-view.tsx";
import { BlockDot, PulseBanner } from "./pulse-view.tsx";

/** The frame around each page. */
export const Shell = () => (
  <>
    <a class="skip" href="#content">
      Skip to the content
    </a>
    <header class="rail">
      <Link to="/" class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path class="shield" d="M16 2 4 7v8c0 7 5 12.5 12 15 7-2.5 12-8 12-15V7z" />
          <path class="fall" d="m9 12 5 5 3-3 6 7" />
        </svg>
        <span>Parametric Cover</span>
      </Link>
      <Navigation />
      <BlockDot />
    </header>
    <div class="page">
      <PulseBanner />
      <main id="content" tabIndex={-1}>
        <PageView />
      </main>
      <Footer />
    </div>
  </>
);

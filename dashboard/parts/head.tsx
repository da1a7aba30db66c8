import type { ComponentChildren } from "preact";

/** The head of a page: its name, and a sentence with the figures that matter. */
export const Head = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <header class="head">
    <h1 id="title" tabIndex={-1}>
      {title}
    </h1>
    <p class="sentence">{children}</p>
  </header>
);

/** A part of a page with its heading, what it says in a sentence, and controls at its end. */
export const Section = ({
  title,
  sentence,
  controls,
  children,
}: {
  title: string;
  sentence?: ComponentChildren;
  controls?: ComponentChildren;
  children: ComponentChildren;
}) => (
  <section>
    <div class="section-head">
      <h2>{title}</h2>
      {controls}
    </div>
    {sentence !== undefined && <p class="note">{sentence}</p>}
    {children}
  </section>
);

/** Links to what the API serves beside the dashboard. */
const documents = [
  ["client", "The client"],
  ["buying", "Buying cover"],
  ["mcp", "Agents"],
  ["reading", "Reading"],
  ["webhooks", "Webhooks"],
  ["operating", "Operating"],
  ["scaling", "Scaling"],
  ["architecture", "Architecture"],
  ["contributing", "Contributing"],
] as const;

export const Footer = () => (
  <footer>
    <nav aria-label="Documents">
      <a href="/api-docs">API explorer</a>
      <a href="/openapi.json">OpenAPI</a>
      <a href="/health">Health</a>
      {documents.map(([name, title]) => (
        <a key={name} href={`/docs/${name}.md`}>
          {title}
        </a>
      ))}
    </nav>
    <p>All figures come from this service’s own API. Times are local; titles have UTC.</p>
  </footer>
);

/** Ponder bundles with Vite, which would watch the whole folder for changes, the database's files included. */
export default { server: { watch: null } };

/** Ponder bundles with Vite, which would otherwise watch the whole folder, including the database's files. */
export default { server: { watch: null } };

/** The parts of `yaml` that the CLI uses, for lazy imports. */
// esbuild gives a dynamic import of CommonJS only a default export; this module adds the named exports.
export { Document, LineCounter, parseAllDocuments, parseDocument, stringify, visit } from 'yaml'

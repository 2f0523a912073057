/** What the terminal uses of YAML, in a file of its own so that it is loaded only when needed. */
// A bundle that imports CommonJS lazily gets only its default export; imported from here, the names are known.
export { Document, LineCounter, parseAllDocuments, parseDocument, stringify, visit } from 'yaml'

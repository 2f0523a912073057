/** The two functions of YAML that the terminal uses, in a file of their own so that they are loaded only when needed. */
// A bundle that imports CommonJS lazily gets only its default export; imported from here, the names are known.
export { parseAllDocuments, stringify } from 'yaml'

/** Stands in for the package that tells Ink whether it runs in a CI. */
export default false

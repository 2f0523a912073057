/** Replaces the package is-in-ci: Ink draws nothing in CI, but a chat always runs on a terminal. */
export default false

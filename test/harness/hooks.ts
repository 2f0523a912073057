/** Reports errors of hooks: uvu ignores them and then runs no test. */

export function reportFailure<Context>(work: (context: Context) => unknown): (context: Context) => Promise<void> {
  return async (context) => {
    try {
      await work(context)
    } catch (error) {
      console.error('a hook failed:', error)
      process.exitCode = 1
      throw error
    }
  }
}

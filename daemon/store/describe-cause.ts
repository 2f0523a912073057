/** Says why a request to a server failed. Node reports the reason as the cause of an error. */
export function describeCause(error: unknown): string {
  const { message, name, code, cause } = error as Error & { code?: string }
  if (name === 'TimeoutError') return 'it does not respond'
  const reason = cause instanceof Error && cause.message !== '' && !message.includes(cause.message) ? describeCause(cause) : ''
  return reason || (message || code || String(error)).replace(/\.$/, '')
}

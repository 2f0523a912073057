/** The logger interface used outside the HTTP layer. Loggers of pino and Fastify satisfy it. */

export interface Logger {
  debug(about: object, message: string): void
  info(about: object, message: string): void
  warn(about: object, message: string): void
  error(about: object, message: string): void
}

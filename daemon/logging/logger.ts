/** What the rooms behind the door say to the log; pino and Fastify's loggers fit. */

export interface Logger {
  debug(about: object, message: string): void
  info(about: object, message: string): void
  warn(about: object, message: string): void
  error(about: object, message: string): void
}

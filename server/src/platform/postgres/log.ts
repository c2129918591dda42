/** What the launcher needs of a logger; a pino logger fits. */
export interface LauncherLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** The methods that the launcher needs; a pino logger fits. */
export interface LauncherLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

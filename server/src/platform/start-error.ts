/**
 * The server cannot start, or refuses to. The message is for the person who started it; the entry prints it without a
 * stack trace and exits with code 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
}

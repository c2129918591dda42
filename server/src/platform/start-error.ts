/**
 * The server cannot start, or refuses to. The message is one clear sentence for the person who started it;
 * the entry prints it without a stack and exits with code 1.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
}

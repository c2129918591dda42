export * from './poll.ts'
export type { Reading, ReadingFailure } from './reading.ts'
export { MAX_POLLED_DEVICES } from './reading.ts'
export { POSIX_COMMAND, WINDOWS_COMMAND } from './scripts.ts'

import { readLinux } from './linux.ts'
import { readMacos } from './macos.ts'
import { cut, failed, MAX_ANSWER, MAX_LINES, type Reading } from './reading.ts'
import { POLL_MARKER } from './scripts.ts'
import { readWindows } from './windows.ts'

/** The platforms that can be polled. */
export type PolledPlatform = 'linux' | 'macos' | 'windows'

/** Maximum number of lines before the marker. Login scripts may print greetings. */
const MAX_GREETING_LINES = 1_000

/** Decodes the output: UTF-8, or UTF-16 with a byte order mark. */
export const decodeAnswer = (bytes: Uint8Array): string => {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

/**
 * Parses the output of a polled host. Accepts any bytes, never throws, and limits the result. The result contains the
 * platform as soon as it is known, even on failure.
 */
export const readPoll = (bytes: Uint8Array): { platform: PolledPlatform | null; reading: Reading } => {
  if (bytes.length > MAX_ANSWER)
    return { platform: null, reading: failed('output-too-large', `the output has ${bytes.length} bytes`) }
  const lines = decodeAnswer(bytes).split(/\r?\n/, MAX_LINES)
  const marker = lines.slice(0, MAX_GREETING_LINES).findIndex((line) => line.trim() === POLL_MARKER)
  if (marker < 0) return { platform: null, reading: failed('not-understood', 'the output does not begin as expected') }
  const system = lines[marker + 1]?.trim() ?? ''
  const rest = lines.slice(marker + 2)
  if (system === 'Linux') return { platform: 'linux', reading: readLinux(rest) }
  if (system === 'Darwin') return { platform: 'macos', reading: readMacos(rest) }
  if (system === 'Windows') return { platform: 'windows', reading: readWindows(rest) }
  return { platform: null, reading: failed('platform-unknown', `the system calls itself ${cut(system, 60)}`) }
}

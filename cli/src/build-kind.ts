import { windowsScriptName, windowsScriptVersion } from '@portcullis/domain'
import { CliError } from './client.ts'

/** Number of bytes at the start of a file that identify its kind. */
export const kindBytes = 128

/** Returns the architecture of a Linux executable, or null for other files, such as a script. */
const elfArchitecture = (start: Buffer): string | null => {
  if (start.length < 20 || start.readUInt32BE(0) !== 0x7f454c46) return null
  return { 62: 'x64', 183: 'arm64' }[start.readUInt16LE(18)] ?? 'another architecture'
}

const isWindowsProgram = (start: Buffer): boolean => start.toString('latin1', 0, 2) === 'MZ'
const isWindowsInstaller = (start: Buffer): boolean => start.toString('hex', 0, 8) === 'd0cf11e0a1b11ae1'

/** Returns the architecture of a build from its first bytes, with its version if they contain one. */
const kindOf = (file: string, start: Buffer): { architecture: string; version: string | null } => {
  const architecture = elfArchitecture(start)
  if (architecture !== null) return { architecture, version: null }
  const version = windowsScriptVersion(start.toString('latin1'))
  if (version !== null) return { architecture: 'windows-x64', version }
  if (isWindowsProgram(start) || isWindowsInstaller(start))
    throw new CliError(
      `${file} is a program or an installer for Windows, but updates contain only the script of the agent. Sign ${windowsScriptName}, which npm run build creates in build/agent.`,
    )
  throw new CliError(`${file} is not an agent. Sign an agent that npm run build creates in build/agent.`)
}

/**
 * Checks the architecture and version in the first bytes of a build. A build without a version there is not refused.
 *
 * @throws CliError if the architecture or the version is different
 */
export const assertBuild = (file: string, start: Buffer, build: { version: string; architecture: string }): void => {
  // Linux runs these scripts on every architecture.
  if (start.toString('latin1', 0, 2) === '#!') {
    if (build.architecture.startsWith('windows-'))
      throw new CliError(`${file} is a script for Linux, not for ${build.architecture}.`)
    return
  }
  const { architecture, version } = kindOf(file, start)
  if (architecture !== build.architecture)
    throw new CliError(`${file} is built for ${architecture}, not for ${build.architecture}.`)
  assertVersion(file, version, build.version)
}

/** @throws CliError if the version of a build is known and differs from the expected one */
export const assertVersion = (file: string, built: string | null, version: string): void => {
  if (built !== null && built !== version)
    throw new CliError(
      `${file} has version ${built}, not ${version}, so hosts would refuse it. Set --version ${built}.`,
    )
}

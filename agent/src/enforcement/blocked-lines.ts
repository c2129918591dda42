import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanText } from '@portcullis/domain'
import type { EnforcementMemory } from './memory.ts'

/** Lines that `status` prints. A line without a name continues the line above it. */
export type Lines = Array<[name: string, value: string]>

export const linesText = (lines: Lines): string => {
  const width = Math.max(...lines.map(([name]) => name.length))
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
}

/** Returns the mode of the host, the blocked devices and the contact. */
export const blockedLines = (
  { mode, reason, blocked }: Pick<EnforcementMemory, 'mode' | 'reason' | 'blocked'>,
  contact: string,
): Lines => {
  const lines: Lines = [['mode', reason === '' ? mode : `${mode} (${reason})`]]
  if (mode === 'Free') return lines
  lines.push(['blocked', String(blocked.length)])
  for (const { caseNumber, name, portPath, since, reason: why } of blocked)
    lines.push(['', `${caseNumber}  ${name} at port ${portPath}, ${since}: ${why}`])
  const person = cleanText(contact, 200) || 'your administrator'
  if (blocked.length > 0) lines.push(['contact', `${person}; give the case number`])
  return lines
}

const pathIn = (dir: string): string => join(dir, 'status')

/**
 * Creates the public status for users without access to the state directory. It is a file in the `RuntimeDirectory=` of
 * the systemd unit. Without that directory, nothing is written.
 */
export const createPublicStatus = ({ dir }: { dir: string | undefined }) => {
  let last: string | undefined
  return {
    /** Writes the lines if they changed. Never throws. */
    show(lines: Lines): void {
      const text = linesText(lines)
      if (dir === undefined || text === last) return
      last = text
      try {
        if (!statSync(dir).isDirectory()) return
        const temporary = `${pathIn(dir)}.new`
        writeFileSync(temporary, text)
        // The umask of the unit protects secrets, but all users may read this file.
        chmodSync(temporary, 0o644)
        renameSync(temporary, pathIn(dir))
      } catch {
        // The public status is optional.
      }
    },
  }
}
export type PublicStatus = ReturnType<typeof createPublicStatus>

/** Returns the public status, or undefined without one. */
export const readPublicStatus = (dir: string | undefined): string | undefined => {
  try {
    return dir === undefined ? undefined : readFileSync(pathIn(dir), 'utf8')
  } catch {
    return undefined
  }
}

import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanText } from '@portcullis/domain'
import type { EnforcementMemory } from './memory.ts'

/** Name and value, as `status` prints them; a line without a name belongs to the one above. */
export type Lines = Array<[name: string, value: string]>

export const linesText = (lines: Lines): string => {
  const width = Math.max(...lines.map(([name]) => name.length))
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
}

/** What an armed host keeps from working, and whom to ask. */
export const blockedLines = (
  { mode, reason, blocked }: Pick<EnforcementMemory, 'mode' | 'reason' | 'blocked'>,
  contact: string,
): Lines => {
  const lines: Lines = [['mode', reason === '' ? mode : `${mode} (${reason})`]]
  if (mode === 'Free') return lines
  lines.push(['blocked', String(blocked.length)])
  for (const { caseNumber, name, portPath, since, reason: why } of blocked)
    lines.push(['', `${caseNumber}  ${name} at port ${portPath}, ${since}: ${why}`])
  const whom = cleanText(contact, 200)
  if (blocked.length > 0)
    lines.push(['ask', whom === '' ? 'your administrator, by the number' : `${whom}, by the number`])
  return lines
}

const pathIn = (dir: string): string => join(dir, 'status')

/**
 * The same for users of the host, who may not read the state directory: a file in a directory that the unit makes
 * (`RuntimeDirectory=`). Where there is no such directory nobody asked for it.
 */
export const createPublicStatus = ({ dir }: { dir: string | undefined }) => {
  let last: string | undefined
  return {
    /** Never fails: it is a courtesy. */
    show(lines: Lines): void {
      const text = linesText(lines)
      if (dir === undefined || text === last) return
      last = text
      try {
        if (!statSync(dir).isDirectory()) return
        const temporary = `${pathIn(dir)}.new`
        writeFileSync(temporary, text)
        // The unit's umask is for secrets; this is for everybody.
        chmodSync(temporary, 0o644)
        renameSync(temporary, pathIn(dir))
      } catch {
        // Nothing depends on it.
      }
    },
  }
}
export type PublicStatus = ReturnType<typeof createPublicStatus>

/** What the agent shows to everybody; undefined when it shows nothing. */
export const readPublicStatus = (dir: string | undefined): string | undefined => {
  try {
    return dir === undefined ? undefined : readFileSync(pathIn(dir), 'utf8')
  } catch {
    return undefined
  }
}

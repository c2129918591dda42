import { createHash } from 'node:crypto'

/**
 * SHA-256 (hex) of `portcullis:` + a machine's identifier, or null when there is none.
 * Place holders that vendors ship on thousands of boards (all zeros, all F) name no machine.
 */
export const machineHash = (identifier: string | undefined): string | null => {
  const value = identifier?.trim().toLowerCase() ?? ''
  if (value === '' || /^[0-]*$/.test(value) || /^[f-]*$/.test(value)) return null
  return createHash('sha256').update(`portcullis:${value}`).digest('hex')
}

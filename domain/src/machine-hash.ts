import { createHash } from 'node:crypto'

/**
 * Returns the SHA-256 (hex) of `portcullis:` and a machine identifier, or null without an identifier.
 * Placeholders that vendors ship on thousands of boards (all zeros, all F) do not identify a machine.
 */
export const machineHash = (identifier: string | undefined): string | null => {
  const value = identifier?.trim().toLowerCase() ?? ''
  if (value === '' || /^[0-]*$/.test(value) || /^[f-]*$/.test(value)) return null
  return createHash('sha256').update(`portcullis:${value}`).digest('hex')
}

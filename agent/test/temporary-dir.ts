import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a directory that is removed after the test. */
export const temporaryDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-agent-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

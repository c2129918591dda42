import { describe, expect, it } from 'vitest'
import { releaseKey } from './release-key.ts'

describe('the release key in the doctor', () => {
  it('uses the environment of the command and says so, if the environment of the running server cannot be read', () => {
    const found = releaseKey({ releaseKeyFile: null }, '/nowhere/manifest.json', { server: 'unreadable' })
    expect(found).toMatchObject({
      status: 'warning',
      seen: expect.stringMatching(/^not configured \(in the environment of this command; the running server may/),
    })
  })
})

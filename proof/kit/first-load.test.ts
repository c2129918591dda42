import { readFileSync } from 'node:fs'
import { unless } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { firstLoad, isConsoleBuilt, mostScriptKilobytes } from './first-load.ts'
import { fromRoot } from './root.ts'

const whyNotBuilt = isConsoleBuilt() ? null : 'the console is not built: npm run build'

describe('the first load of the console', unless(whyNotBuilt), () => {
  it('has few files and few bytes', () => {
    const { files, page, styles, scripts } = firstLoad()
    expect(scripts).toBeGreaterThan(50)
    expect(scripts).toBeLessThanOrEqual(mostScriptKilobytes)
    expect(styles).toBeLessThanOrEqual(40)
    expect(page).toBeLessThanOrEqual(8)
    // A browser opens six connections at most, and each further file costs a round trip.
    expect(files.length).toBeLessThanOrEqual(6)
  })

  it('has compressed forms that the server sends as they are', () => {
    for (const file of firstLoad().files) {
      const plain = readFileSync(fromRoot(`build/console/${file}`))
      if (plain.length < 1_024) continue
      for (const suffix of ['.br', '.gz'])
        expect(readFileSync(fromRoot(`build/console/${file}${suffix}`)).length, file).toBeLessThan(plain.length / 2)
    }
  })

  it('draws the shell before it names any file of the application', () => {
    const page = readFileSync(fromRoot('build/console/index.html'), 'utf8')
    const shell = page.indexOf('id="shell-words"')
    expect(shell).toBeGreaterThan(0)
    expect(page.search(/<(?:script|link)[^>]*\/assets\//)).toBeGreaterThan(shell)
    // No font and no other origin delays the first paint.
    expect(page).not.toMatch(/@import|@font-face|https?:\/\/(?!www\.w3\.org)/)
    expect(page).not.toMatch(/\son\w+="/)
  })
})

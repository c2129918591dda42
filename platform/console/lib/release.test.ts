import { describe, expect, it } from 'vitest'
import { createRelease } from './release.ts'

const setUp = ({ typed = [], page = null }: { typed?: boolean[]; page?: string | null }) => {
  const seen = { reloads: 0, pauses: 0, at: 0 }
  const release = createRelease({
    clock: { now: () => 1_000_000 },
    pause: async () => void seen.pauses++,
    reload: () => void seen.reloads++,
    lastReload: {
      get: () => seen.at,
      set: (at) => {
        seen.at = at
      },
    },
    hasTyped: () => typed.shift() ?? false,
    readPage: async () => page,
    script: '/assets/index-old.js',
  })
  return { release, seen }
}

describe('the release of this page', () => {
  it.each([
    ['the server serves another main script', '<script src="/assets/index-new.js">', true],
    ['the server serves the same main script', '<script src="/assets/index-old.js">', false],
    ['the server does not respond', null, false],
  ])('is compared after an outage: %s', async (_case, page, isOutdated) => {
    const { release } = setUp({ page })
    await release.check()
    expect(release.isOutdated()).toBe(isOutdated)
    expect(release.isDue()).toBe(isOutdated)
  })

  it('reloads only when no typed text is lost, and says why it waits', async () => {
    const { release, seen } = setUp({ typed: [true, true, false] })
    const news: boolean[] = []
    release.watch(() => news.push(release.isOutdated()))
    expect(await release.reloadWhenSafe()).toBe(true)
    expect(seen).toMatchObject({ reloads: 1, pauses: 2 })
    expect(news).toEqual([true])
  })

  it('does not load the newer console on navigation while typed text would be lost', async () => {
    const { release } = setUp({ typed: [true], page: '' })
    await release.check()
    expect(release.isDue()).toBe(false)
    expect(release.isDue()).toBe(true)
  })

  it('does not reload again if the last reload did not help', async () => {
    const { release, seen } = setUp({ page: '' })
    await release.check()
    expect(await release.reloadWhenSafe()).toBe(true)
    expect(await release.reloadWhenSafe()).toBe(false)
    expect(release.isDue()).toBe(false)
    expect(seen.reloads).toBe(1)
  })
})

import { expect, it } from 'vitest'
import { followRecipes } from './recipes.mjs'

it('follows the recipes of the architecture with two files, two and four', { timeout: 480_000 }, async () => {
  expect(await followRecipes()).toEqual([])
})

import { expect, it } from 'vitest'
import { root } from '../kit/root.ts'
import { bans } from './source/bans.ts'
import { placeOf, sourceFiles, walk } from './source/files.ts'

it('finds no unlisted dangerous construct in the sources', { timeout: 180_000 }, () => {
  const files = sourceFiles(root)
  expect(files.length).toBeGreaterThan(400)
  expect(bans.length).toBeGreaterThan(5)
  for (const { name, isBroken, known = {} } of bans) {
    const found: Record<string, string[]> = {}
    for (const file of files)
      walk(file.tree, (node) => {
        if (!isBroken(node, file)) return
        found[file.path] ??= []
        found[file.path]?.push(placeOf(file, node))
      })
    // More occurrences than listed are a fault, like a new file. Fewer mean that the list is out of date.
    const counts = Object.fromEntries(Object.entries(found).map(([path, places]) => [path, places.length]))
    const listed = Object.fromEntries(Object.entries(known).map(([path, { places }]) => [path, places]))
    expect(counts, `${name}: ${Object.values(found).flat().join(', ')}`).toEqual(listed)
  }
})

import type { Check, Outcome } from '../kit/verdict.ts'
import { bans } from './source/bans.ts'
import { placeOf, sourceFiles, walk } from './source/files.ts'

/** Checks that the sources contain no dangerous constructs except for listed exceptions. */
export const sources: Check = {
  name: 'sources',
  what: 'The syntax trees of all sources contain no dangerous constructs: text run as code, shells, unchecked certificates, markup made of text, predictable randomness, values in SQL text, or broken ciphers. Exceptions are listed, each with its reason.',
  run: async ({ root }): Promise<Outcome> => {
    const files = sourceFiles(root)
    const notes: string[] = []
    const findings = bans.map(({ name, isBroken, known = {} }) => {
      const found = new Map<string, string[]>()
      for (const file of files)
        walk(file.tree, (node) => {
          if (isBroken(node, file)) found.set(file.path, [...(found.get(file.path) ?? []), placeOf(file, node)])
        })
      // More occurrences than listed are a fault, like a new file. Fewer mean that the list is out of date.
      const wrong = [...new Set([...found.keys(), ...Object.keys(known)])].filter(
        (path) => (found.get(path)?.length ?? 0) !== (known[path]?.places ?? 0),
      )
      for (const path of wrong)
        notes.push(
          `${name}: ${path} has ${found.get(path)?.join(', ') ?? 'no occurrence'}, but ${known[path]?.places ?? 0} are listed`,
        )
      return { what: name, value: wrong.length, atMost: 0 }
    })
    const places = bans.reduce((sum, { known = {} }) => sum + Object.values(known).reduce((n, k) => n + k.places, 0), 0)
    return {
      findings: [
        { what: 'files', value: files.length, atLeast: 400 },
        ...findings,
        { what: 'known places, each with its reason', value: places },
      ],
      notes,
    }
  },
}

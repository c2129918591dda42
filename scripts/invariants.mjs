// `node scripts/invariants.mjs [TEXT]`: lists the invariants of the product with the checks that guard them, or those
// that contain TEXT. A test states its invariants in comments that begin with "Invariant:", and a boundary of
// .dependency-cruiser.cjs in its `comment`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import rules from '../.dependency-cruiser.cjs'
import { ROOT } from './bootstrap/say.mjs'

/** An indented comment line continues the sentence. */
const STATED = /^\/\/ Invariant: (.+(?:\n\/\/ {3}.+)*)/gm

/** Returns the invariants of a source file. */
export const invariantsIn = (source) => [...source.matchAll(STATED)].map(([, text]) => text.replace(/\n\/\/ +/g, ' '))

/** Returns every invariant as `{guard, text}`, sorted by guard. */
export function invariants() {
  const files = execFileSync('git', ['grep', '-l', '^// Invariant: ', '--', '*.ts', '*.tsx', '*.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return [
    ...files
      .trim()
      .split('\n')
      .sort()
      .flatMap((guard) => invariantsIn(readFileSync(join(ROOT, guard), 'utf8')).map((text) => ({ guard, text }))),
    ...rules.forbidden.map(({ name, comment }) => ({ guard: name, text: comment })),
  ]
}

if (import.meta.main) {
  const wanted = (process.argv[2] ?? '').toLowerCase()
  for (const { guard, text } of invariants())
    if (`${guard} ${text}`.toLowerCase().includes(wanted)) console.log(`${guard}\n  ${text}`)
}

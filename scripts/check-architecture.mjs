// Checks that ARCHITECTURE.md is short and current: it names every existing feature folder, guards every invariant by
// an existing check, and its four paths name existing files and functions. Checks the checkout or the given folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import rules from '../.dependency-cruiser.cjs'
import { ROOT } from './bootstrap/say.mjs'

const MAX_LINES = 250

const tree = resolve(process.argv[2] ?? ROOT)
const file = join(tree, 'ARCHITECTURE.md')
const wrong = existsSync(file)
  ? judge(readFileSync(file, 'utf8'))
  : ['ARCHITECTURE.md is missing: write it (CONTRIBUTING.md describes its contents)']
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0

function judge(doc) {
  const lines = doc.trimEnd().split('\n')
  return [
    ...(lines.length > MAX_LINES
      ? [`ARCHITECTURE.md has ${lines.length} lines; ${MAX_LINES} is the limit: delete first`]
      : []),
    ...judgeFeatures(doc),
    ...judgeInvariants(lines),
    ...judgePaths(doc),
  ]
}

function judgeFeatures(doc) {
  const folder = join(tree, 'features')
  const onDisk = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []))
    : []
  const named = [...new Set([...doc.matchAll(/`features\/([a-z-]+)\/`/g)].map((match) => match[1]))]
  return [
    ...onDisk.filter((name) => !named.includes(name)).map((name) => `the codemap does not name \`features/${name}/\``),
    ...named
      .filter((name) => !onDisk.includes(name))
      .map((name) => `the codemap names \`features/${name}/\`, which is gone`),
  ]
}

/** An invariant is a list item under a heading with "invariant"; it ends in the check that guards it: "(`name`)". */
function judgeInvariants(lines) {
  const start = lines.findIndex((line) => /^#+ .*invariant/i.test(line))
  if (start === -1) return ['ARCHITECTURE.md has no section "Invariants"']
  const next = lines.findIndex((line, index) => index > start && /^#+ /.test(line))
  const section = lines.slice(start + 1, next === -1 ? undefined : next).join('\n')
  const items = section.split(/^(?:[-*]|\d+\.) /m).slice(1)
  if (items.length === 0) return ['the section "Invariants" lists none']
  return items.flatMap((item) => {
    const text = item.trim().replace(/\s+/g, ' ')
    const checks = [...(/\(((?:`[^`]+`(?:, | and )?)+)\)\.?$/.exec(text)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(
      (match) => match[1],
    )
    if (checks.length === 0) return [`invariant without a check at its end: ${text}`]
    return checks
      .filter((check) => !exists(check))
      .map((check) => `invariant guarded by a check that does not exist, ${check}: ${text}`)
  })
}

/** A path names a file in backticks, followed by a function in that file. */
function judgePaths(doc) {
  const section = /^## Four paths[^\n]*\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(doc)?.[1]
  if (section === undefined) return ['ARCHITECTURE.md has no section "Four paths"']
  const steps = [...section.matchAll(/`([\w./-]+\.tsx?)`(?:\s*[,(]\s*`(\w+)`)?/g)]
  const paths = section.split(/^### /m).length - 1
  return [
    ...(paths === 4 ? [] : [`the section "Four paths" describes ${paths}`]),
    ...steps.flatMap(([, path, name]) => {
      if (!existsSync(join(tree, path))) return [`the four paths name ${path}, which is gone`]
      if (name !== undefined && !new RegExp(`\\b${name}\\b`).test(readFileSync(join(tree, path), 'utf8')))
        return [`the four paths name ${name}, which ${path} does not have`]
      return []
    }),
  ]
}

/** A check is a rule of .dependency-cruiser.cjs, or a test or check script in this tree. */
function exists(check) {
  return rules.forbidden.some((rule) => rule.name === check) || existsSync(join(tree, check))
}

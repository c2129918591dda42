// Checks that decisions are superseded and never edited: each ADR has a title, a status and a body, and
// docs/adr/digests.txt has the digest of its body. `--write` adds the digests of new ADRs and writes the index; it
// never replaces a digest.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

const mayWrite = process.argv.includes('--write')
const folder = join(resolve(process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? ROOT), 'docs', 'adr')
const digestsFile = join(folder, 'digests.txt')
const indexFile = join(folder, 'README.md')

const LINK = String.raw`\[ADR \d+\]\((\d{4}-[a-z0-9-]+\.md)\)`
const STATUS = new RegExp(
  `^Status: (?:accepted|rejected)\\.(?: Superseded(?: in part)? by ${LINK}(?: and ${LINK})*\\.)?$`,
)

const files = readdirSync(folder)
  .filter((name) => /^\d{4}-[a-z0-9-]+\.md$/.test(name))
  .sort()
const known = new Map(
  existsSync(digestsFile)
    ? readFileSync(digestsFile, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => line.split('  ').reverse())
    : [],
)

const wrong = []
const rows = []
for (const file of files) {
  const [title = '', , status = '', , ...body] = readFileSync(join(folder, file), 'utf8').split('\n')
  const number = Number(file.slice(0, 4))
  const heading = new RegExp(`^# ${number}\\. (.+)$`).exec(title)?.[1]
  if (heading === undefined) wrong.push(`${file}: the first line is "# ${number}. <title>"`)
  if (!STATUS.test(status))
    wrong.push(`${file}: the third line is "Status: accepted." or names the ADR that supersedes this one`)
  for (const [, link] of status.matchAll(new RegExp(LINK, 'g')))
    if (!files.includes(link)) wrong.push(`${file}: its status names ${link}, which does not exist`)
  const digest = createHash('sha256').update(body.join('\n')).digest('hex')
  if (!known.has(file) && mayWrite) known.set(file, digest)
  if (!known.has(file)) wrong.push(`${file}: new; run \`node scripts/check-decisions.mjs --write\``)
  else if (known.get(file) !== digest) wrong.push(`${file}: its body was edited; write a new ADR that supersedes it`)
  rows.push(`| [${number}](${file}) | ${heading} | ${status.slice('Status: '.length, -1)} |`)
}
for (const file of known.keys()) if (!files.includes(file)) wrong.push(`${file}: removed; supersede it instead`)

const index = `# Decisions

Each page records one decision: its context, what was decided, and the consequences. A decision is never edited.
A later one supersedes it, and its status says so.

| ADR | decision | status |
|---|---|---|
${rows.join('\n')}
`
if (mayWrite && wrong.length === 0) {
  writeFileSync(indexFile, index)
  writeFileSync(digestsFile, `${[...known].map(([file, digest]) => `${digest}  ${file}`).join('\n')}\n`)
} else if (wrong.length === 0 && (!existsSync(indexFile) || readFileSync(indexFile, 'utf8') !== index)) {
  wrong.push('README.md is not the index of these ADRs; run `node scripts/check-decisions.mjs --write`')
}
for (const line of wrong) console.error(`docs/adr/${line}`)
process.exitCode = wrong.length > 0 ? 1 : 0

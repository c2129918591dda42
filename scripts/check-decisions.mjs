// Checks that each ADR has a title and a status, that none was removed, and that the index lists them. `--write` writes the
// index.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ROOT } from './bootstrap/say.mjs'

const mayWrite = process.argv.includes('--write')
const folder = join(resolve(process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? ROOT), 'docs', 'adr')
const indexFile = join(folder, 'README.md')

const LINK = String.raw`\[ADR \d+\]\((\d{4}-[a-z0-9-]+\.md)\)`
const STATUS = new RegExp(
  `^Status: (?:accepted|rejected)\\.(?: Superseded(?: in part)? by ${LINK}(?: and ${LINK})*\\.)?$`,
)

const files = readdirSync(folder)
  .filter((name) => /^\d{4}-[a-z0-9-]+\.md$/.test(name))
  .sort()
/** Numbers that were given to drafts which became no decision. */
const UNUSED = [39, 43, 54, 56, 57, 58, 60, 71, 72, 73, 74, 75, 77, 119]

const wrong = []
const rows = []
for (const file of files) {
  const [title = '', , status = ''] = readFileSync(join(folder, file), 'utf8').split('\n')
  const number = Number(file.slice(0, 4))
  const heading = new RegExp(`^# ${number}\\. (.+)$`).exec(title)?.[1]
  if (heading === undefined) wrong.push(`${file}: the first line is "# ${number}. <title>"`)
  if (!STATUS.test(status))
    wrong.push(`${file}: the third line is "Status: accepted." or names the ADR that supersedes this one`)
  for (const [, link] of status.matchAll(new RegExp(LINK, 'g')))
    if (!files.includes(link)) wrong.push(`${file}: its status names ${link}, which does not exist`)
  rows.push(`| [${number}](${file}) | ${heading} | ${status.slice('Status: '.length, -1)} |`)
}
const numbers = new Set(files.map((file) => Number(file.slice(0, 4))))
for (let number = 1; number < Math.max(0, ...numbers); number++)
  if (!numbers.has(number) && !UNUSED.includes(number)) wrong.push(`ADR ${number} was removed; supersede it instead`)
for (const number of UNUSED) if (numbers.has(number)) wrong.push(`ADR ${number} exists; remove it from UNUSED`)

const index = `# Decisions

Each page records one decision: its context, what was decided, and the consequences. Its wording and its paths may be
corrected, its meaning may not: a later decision supersedes it, and its status says so. Drafts that became no decision
had the numbers ${UNUSED.slice(0, -1).join(', ')} and ${UNUSED.at(-1)}.

| ADR | decision | status |
|---|---|---|
${rows.join('\n')}
`
if (wrong.length === 0 && mayWrite) writeFileSync(indexFile, index)
else if (wrong.length === 0 && (!existsSync(indexFile) || readFileSync(indexFile, 'utf8') !== index))
  wrong.push('README.md is not the index of these ADRs; run `node scripts/check-decisions.mjs --write`')
for (const line of wrong) console.error(`docs/adr/${line}`)
process.exitCode = wrong.length > 0 ? 1 : 0

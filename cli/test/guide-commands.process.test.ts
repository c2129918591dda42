import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const programs = { portcullis: 'cli/src/main.ts', 'portcullis-agent': 'agent/src/main.ts' }
type Program = keyof typeof programs
/** Commands that only the agent for Windows has. */
const ofWindows = ['enrol', 'service-check', 'verify']

/** Returns the commands in code of the guides, with the words after the program. */
const commandsOf = (text: string): { program: Program; words: string[] }[] => {
  const joined = text.replace(/\\\n\s*/g, ' ')
  const code = [...joined.matchAll(/`([^`\n]+)`/g), ...joined.matchAll(/^ {4,}(\S.*)$/gm)].map(([, one = '']) => one)
  const all = code.flatMap((one) => {
    const [, program, rest = ''] =
      /^(?:sudo |runuser -u portcullis -- |docker exec portcullis |[\w/]*\/)?(portcullis(?:-agent)?) ([a-z][^#]*)/.exec(
        one,
      ) ?? []
    return program === undefined ? [] : [{ program: program as Program, words: rest.trim().split(/\s+/) }]
  })
  return all.filter(({ program, words: [first = ''] }) => program === 'portcullis' || !ofWindows.includes(first))
}

const guides = [...globSync('docs/{guide,security}/*.md', { cwd: root }), 'README.md', 'CONTRIBUTING.md']
const found = guides.flatMap((guide) => commandsOf(readFileSync(join(root, guide), 'utf8')))
const commands = [...new Map(found.map((one) => [[one.program, ...one.words].join(' '), one])).entries()]

const helps = new Map<string, Promise<string>>()
const helpOf = (program: Program, path: readonly string[]): Promise<string> => {
  const key = [program, ...path].join(' ')
  const run = () =>
    promisify(execFile)(process.execPath, [join(root, programs[program]), ...path, '--help']).then(
      ({ stdout }) => stdout,
    )
  const help = helps.get(key) ?? run()
  helps.set(key, help)
  return help
}

it('finds the commands of the guides', () => expect(commands.length).toBeGreaterThan(40))

it.each(commands)(
  'exists with its options: %s',
  async (_, { program, words }) => {
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
    const path = words.slice(0, Math.min(end < 0 ? words.length : end, 2))
    const help = await helpOf(program, program === 'portcullis' ? path : [])
    if (program === 'portcullis') expect(help).toMatch(new RegExp(`^Usage: portcullis ${path.join(' ')}\\b`))
    else expect(help).toMatch(new RegExp(`portcullis-agent ${path[0]}\\b`))
    const general = program === 'portcullis' ? await helpOf(program, []) : ''
    const unknown = words.filter(
      (word) => /^--[a-z]/.test(word) && !`${help} ${general}`.includes(word.replace(/=.*/, '')),
    )
    expect(unknown).toEqual([])
  },
  60_000,
)

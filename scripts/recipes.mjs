// `node scripts/recipes.mjs`: follows three recipes of ARCHITECTURE.md in a copy of the checkout: a filter, an event with
// an alert, and an operation with a page of the console. It runs the checks of types and boundaries and a test through
// HTTP there, and fails if a recipe takes more files than its limit. The copy is deleted.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from './bootstrap/run.mjs'
import { ROOT } from './bootstrap/say.mjs'

/** Inserts `text` after the text `behind`. Without `behind`, appends it to the file, which may be new. */
const edit = (file, text, behind) => ({ file, text, behind })

/** `most`: maximum number of files. The test, and the list of permissions that repeats the contract, do not count. */
const RECIPES = [
  {
    name: 'a filter',
    most: 2,
    edits: [
      edit(
        'features/agents/contract/agent-list.ts',
        "\n  RecipeId: textFilter('uuid', { label: 'Recipe ID' }),",
        'export const agentFilters = {',
      ),
      edit('features/agents/contract/agent-list.ts', "\n      'RecipeId',", "      'PossibleDuplicate',"),
      edit(
        'features/agents/server/agents.read.ts',
        "\n    RecipeId: contains('r.agent_id::text'),",
        "    Uuid: contains('r.agent_id::text'),",
      ),
    ],
  },
  {
    name: 'an event with an alert',
    most: 2,
    edits: [
      edit(
        'features/events/contract/event-catalogue.ts',
        `
  recipeFollowed: event('0x12007f', 4, 'Recipe followed', base, {
    meaning: 'A host enrolled while the recipe was followed.',
    cause: 'Somebody followed the recipe.',
    cure: 'Remove the recipe.',
    alert: {
      title: 'Recipe followed',
      meaning: 'A host enrolled while the recipe was followed.',
      group: 'Devices',
      order: 90,
      subject: 'host',
      steps: ['events'],
    },
  }),`,
        'export const eventCatalogue = {',
      ),
      edit(
        'features/agents/server/enrollment.service.ts',
        "\n          { kind: 'recipeFollowed', agentId, entity, hashtags, details: 'as described' },",
        'await context.events.append(tx, [',
      ),
    ],
  },
  {
    name: 'an operation with a page',
    most: 4,
    edits: [
      edit(
        'features/tags/contract/tags.ts',
        `
export const countTags = operation({
  id: 'countTags',
  method: 'GET',
  path: '/prime/webui/generalconfig/tagcount',
  tag: 'GeneralConfig',
  summary: 'Counts the tags',
  permission: 'fleet:read',
  response: closed({ tags: Type.Integer({ minimum: 0, description: 'Number of tags.' }) }),
})
`,
      ),
      edit('features/tags/server/tags.routes.ts', 'countTags, ', 'import { addHashtags, '),
      edit(
        'features/tags/server/tags.routes.ts',
        '\n  app.register(countTags, async () => ({ tags: (await read.list()).length }))',
        'app.register(getHashtags, () => read.list())',
      ),
      edit(
        'features/tags/console/TagCountPage.tsx',
        `import { countTags } from '@portcullis/features/contract.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Page } from '@portcullis/platform/console/ui/layout/layout.tsx'

export const TagCountPage = () => {
  const count = useRead(['tag-count'], countTags)
  return <Page>{count.data?.tags}</Page>
}
`,
      ),
      edit(
        'console/src/app/routes.ts',
        `
const tagCount = createRoute({
  getParentRoute: () => settings,
  path: '/tags/count',
  staticData: { page: (): Page => import('@portcullis/features/tags/console/TagCountPage.tsx') },
})`,
        '/** Search parameters of a settings page: one tab for the settings, one for their history. */',
      ),
      edit('console/src/app/routes.ts', '\n      tagCount,', '      settingsStart,'),
      edit('proof/kit/permissions.ts', 'countTags ', "'fleet:read': `\n    "),
    ],
  },
]

const NOT_COUNTED = ['proof/kit/permissions.ts']

const TEST = `import { expect, it } from 'vitest'
import { startTestApp } from './app.ts'
import { enrolAgent } from './builders.ts'

it('has the filter, the event with its alert, and the operation', async () => {
  const t = await startTestApp({ listen: true })
  const { agentId } = await enrolAgent(t)
  await t.alerts.run()
  const admin = await t.admin()
  const read = async (path: string) => (await admin.get(\`/prime/webui/\${path}\`)).json()
  expect((await read(\`agents?RecipeId=\${agentId}\`)).data).toHaveLength(1)
  expect((await read('agents?RecipeId=none')).data).toEqual([])
  expect(JSON.stringify(await read('systemNotification/riskNotifications'))).toContain('Recipe followed')
  expect(await read('generalconfig/tagcount')).toEqual({ tags: 0 })
  await t.close()
})
`

/** Files of a recipe that count. */
const filesOf = ({ edits }) => [...new Set(edits.map(({ file }) => file).filter((file) => !NOT_COUNTED.includes(file)))]

function copyCheckout(to) {
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 })
  for (const file of git('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0')) {
    if (file === '') continue
    mkdirSync(dirname(join(to, file)), { recursive: true })
    copyFileSync(join(ROOT, file), join(to, file))
  }
  // The workspaces must be those of the copy, and all other packages may be shared.
  mkdirSync(join(to, 'node_modules', '@portcullis'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@portcullis') symlinkSync(join(ROOT, 'node_modules', name), join(to, 'node_modules', name))
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const name of workspaces) symlinkSync(join('..', '..', name), join(to, 'node_modules', '@portcullis', name))
  symlinkSync(join(ROOT, 'cli', 'node_modules'), join(to, 'cli', 'node_modules'))
}

function apply(to, { file, text, behind }) {
  const path = join(to, file)
  if (behind === undefined) return writeFileSync(path, text, { flag: 'a' })
  const parts = readFileSync(path, 'utf8').split(behind)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${behind}`)
  writeFileSync(path, `${parts[0]}${behind}${text}${parts[1]}`)
}

/** Follows the recipes. Returns the faults. */
export async function followRecipes() {
  const to = mkdtempSync(join(tmpdir(), 'portcullis-recipes-'))
  try {
    copyCheckout(to)
    for (const recipe of RECIPES) for (const one of recipe.edits) apply(to, one)
    writeFileSync(join(to, 'server', 'test', 'recipes.test.ts'), TEST)
    const tools = join(ROOT, 'node_modules')
    const tsc = join(tools, '@typescript', 'native', 'bin', 'tsc')
    const steps = [
      ['types', [tsc, '--noEmit', '-p', 'tsconfig.json']],
      ['types of the console', [tsc, '--noEmit', '-p', 'console/tsconfig.json']],
      [
        'tests',
        [
          join(tools, 'vitest', 'vitest.mjs'),
          'run',
          'server/test/recipes.test.ts',
          'proof/kit/permissions.test.ts',
          'scripts/reference.test.ts',
        ],
      ],
    ]
    const faults = []
    for (const [name, args] of steps) {
      const { ok, output } = await run(process.execPath, args, { cwd: to })
      if (!ok) faults.push(`${name}:\n${output}`)
    }
    return [
      ...RECIPES.flatMap((recipe) => {
        const files = filesOf(recipe)
        return files.length > recipe.most ? [`${recipe.name} takes ${files.length} files: ${files.join(', ')}`] : []
      }),
      ...faults,
    ]
  } finally {
    rmSync(to, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const faults = await followRecipes()
  for (const recipe of RECIPES) console.log(`${recipe.name}: ${filesOf(recipe).join(', ')}`)
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length > 0 ? 1 : 0
}

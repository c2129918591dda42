import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { referenceFiles } from '../../scripts/generate-reference.ts'
import { startTestApp, type TestApp } from '../../server/test/app.ts'
import { schemaOf } from '../../server/test/schema.ts'
import { expectGolden, masked } from './golden.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Formats JSON with one line for each member down to a depth, so that a change is a few lines. */
const lines = (value: unknown, depth: number, indent = ''): string => {
  if (depth === 0 || typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return JSON.stringify(value)
  const isList = Array.isArray(value)
  const members = Object.entries(value).map(
    ([key, member]) => `${indent} ${isList ? '' : `${JSON.stringify(key)}: `}${lines(member, depth - 1, `${indent} `)}`,
  )
  return `${isList ? '[' : '{'}\n${members.join(',\n')}\n${indent}${isList ? ']' : '}'}`
}

/** Shortens repeated text: examples, equal media types, and problems. */
const shortened = (key: string, value: unknown): unknown => {
  if (key === 'example' || key === 'examples') return digest(JSON.stringify(value)).slice(0, 16)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  if (key === 'content') {
    const [first, same] = members[0] ?? ['']
    const isSame = (type: string, one: unknown) => type !== first && JSON.stringify(one) === JSON.stringify(same)
    return Object.fromEntries(members.map(([type, one]) => [type, isSame(type, one) ? `as ${first}` : one]))
  }
  if (key !== 'responses') return value
  const problems = members.filter(([status, one]) => one.$ref?.includes(`/${status}-`))
  return Object.fromEntries([
    ...members.filter((member) => !problems.includes(member)),
    ['problems', problems.map(([, one]) => one.$ref.split('/').at(-1)).join(' ')],
  ])
}

it('serves the same description of the interface', async () => {
  const { body } = await t.request({ method: 'GET', url: '/openapi.json' })
  const text = masked(body)
  const document: unknown = JSON.parse(text, (key, value) => shortened(key, value))
  await expectGolden('openapi.txt', `SHA-256 ${digest(text)}\n${lines(document, 5)}\n`)
})

it('generates the same reference', async () => {
  // The description of the interface has the text of these pages.
  for (const [name, text] of Object.entries(referenceFiles()))
    if (!name.startsWith('api/')) await expectGolden(`reference/${name.replace(/md$/, 'txt')}`, text)
})

it('migrates to the same schema', async () => {
  // The lines of the columns already say whether they take NULL.
  const schema = (await schemaOf(t.db)).filter((line) => !/^constraint .* NOT NULL/.test(line))
  await expectGolden('schema.txt', `${schema.join('\n')}\n`)
})

it('has the same metrics', async () => {
  const { body } = await t.request({ method: 'GET', url: '/metrics' })
  const names = body.split('\n').filter((line) => line.startsWith('# '))
  expect(names.length).toBeGreaterThan(50)
  await expectGolden('metrics.txt', `${names.join('\n')}\n`)
})

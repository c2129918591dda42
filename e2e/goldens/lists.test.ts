import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { reportListNames } from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFleet } from './fleet.ts'
import { expectGolden, masked } from './golden.ts'

const whyNoTools = existsSync('/usr/bin/pdftotext') ? null : 'no pdftotext (poppler-utils)'
const dir = mkdtempSync(join(tmpdir(), 'portcullis-goldens-'))
/** Leaves out records with random ports, certificates and file names. */
const filters: Partial<Record<string, object>> = {
  audit: { area: 'policy,hosts,tags,agentless,quarantine,accounts,signIn' },
}
let fleet: Awaited<ReturnType<typeof startFleet>>
beforeAll(async () => {
  fleet = await startFleet()
})
afterAll(async () => {
  await fleet?.close()
  rmSync(dir, { recursive: true, force: true })
})

const file = async (body: { list: string; format: string; form?: string }): Promise<Buffer> => {
  const answer = await (await fleet.t.admin()).post('/prime/webui/reports/export', {
    filter: filters[body.list] ?? {},
    ...body,
  })
  expect(answer.statusCode, answer.body.slice(0, 300)).toBe(200)
  return answer.rawPayload
}

describe.each(reportListNames)('the list %s is exported to the same', (list) => {
  it.each(['fixed', 'readable'])('CSV in the form %s', async (form) => {
    const text = (await file({ list, format: 'csv', form })).toString('utf8')
    expect(text.split('\r\n').length, 'rows').toBeGreaterThan(2)
    await expectGolden(`lists/${list}.${form}.csv`, masked(text))
  })

  // The width of random ids decides where the lines of audit records break.
  if (list === 'audit') return
  it('PDF', unless(whyNoTools), async () => {
    const path = join(dir, `${list}.pdf`)
    writeFileSync(path, await file({ list, format: 'pdf' }))
    const run = (...args: string[]) => execFileSync(args[0] as string, args.slice(1), { encoding: 'utf8' })
    const sizes = run('pdfinfo', '-f', '1', '-l', '99', path).match(/^Page.*size:.*$/gm) ?? []
    await expectGolden(
      `lists/${list}.pdf.txt`,
      masked(`${sizes.join('\n')}\n\n${run('pdftotext', '-layout', path, '-')}`),
    )
  })
})

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { AttackToolRow, DeviceTest, GenuineRow, NameSupplement, VulnerableRow } from '../domain/src/index.ts'
import { loadKnowledge } from '../features/knowledge/server/index.ts'

const dir = fileURLToPath(new URL('.', import.meta.url))
const read = (file: string): string => readFileSync(`${dir}/${file}`, 'utf8')
const manifest = JSON.parse(read('manifest.json'))
const attackTools: AttackToolRow[] = JSON.parse(read('attack-tools.json'))
const vulnerable: VulnerableRow[] = JSON.parse(read('vulnerable-peripherals.json'))
const genuine: GenuineRow[] = JSON.parse(read('genuine-descriptors.json'))
const supplement: NameSupplement = JSON.parse(read('vendor-supplement.json'))

const HEX4 = /^[0-9A-F]{4}$/
const patterns = (test: DeviceTest | undefined): string[] =>
  [test?.manufacturer, test?.product, test?.serial, test?.configuration].filter((p) => p !== undefined)

describe('the knowledge files', () => {
  it('load, and tell their versions', async () => {
    const knowledge = await loadKnowledge(dir)
    expect(knowledge.info).toMatchObject({ version: manifest.version, usbIds: manifest.files['usb.ids'].version })
    expect(knowledge.vendorName('046D')).toBe('Logitech, Inc.')
  })

  it('fail to load with the name of the broken file', async () => {
    // They are read side by side: whichever is missed first.
    await expect(loadKnowledge(`${dir}/nowhere`)).rejects.toThrow(/nowhere\/(?:manifest\.json|usb\.ids|[\w-]+\.json)/)
  })

  it('are all in the manifest, and usb.ids is as upstream has it', () => {
    const data = readdirSync(dir).filter((f) => f.endsWith('.json') || f === 'usb.ids')
    expect(data.filter((f) => f !== 'manifest.json').sort()).toEqual(Object.keys(manifest.files).sort())
    const sha256 = createHash('sha256')
      .update(readFileSync(`${dir}/usb.ids`))
      .digest('hex')
    expect(sha256).toBe(manifest.files['usb.ids'].sha256)
  })

  it('write ids as four upper-case hex digits, patterns that compile, and a source for every row', () => {
    for (const row of [...attackTools, ...vulnerable, ...genuine]) {
      const label = `${row.vid}:${row.pid}`
      if (row.vid) expect(row.vid, label).toMatch(HEX4)
      if (row.pid) expect(row.pid, label).toMatch(HEX4)
      if ('pidTo' in row && row.pidTo) expect(row.pidTo > (row.pid ?? ''), label).toBe(true)
      expect(row.source, label).not.toBe('')
    }
    for (const row of [...attackTools, ...vulnerable])
      for (const pattern of patterns(row.when)) expect(() => new RegExp(pattern, 'i')).not.toThrow()
    for (const key of Object.keys(supplement.vendors)) expect(key).toMatch(HEX4)
    for (const key of Object.keys(supplement.products)) expect(key).toMatch(/^[0-9A-F]{4}:[0-9A-F]{4}$/)
  })

  it('name every attack tool once', () => {
    expect(new Set(attackTools.map((row) => row.id)).size).toBe(attackTools.length)
    expect(attackTools.length).toBeGreaterThan(150)
  })

  it('have a condition in each row of a real product that has supporting strings', () => {
    for (const row of attackTools.filter((r) => r.group === 'real' && r.support !== undefined))
      expect(row.when, row.id).toBeDefined()
  })

  it('list products that have only HID interfaces, each once', () => {
    expect(genuine.length).toBeGreaterThan(100)
    expect(new Set(genuine.map((row) => `${row.vid}:${row.pid}`)).size).toBe(genuine.length)
    for (const { name, classes, samples } of genuine) {
      expect(classes, name).toContain('03')
      expect(
        classes.every((code) => ['03', 'fe', 'ff'].includes(code)),
        name,
      ).toBe(true)
      expect(samples === 0 || samples >= 20, name).toBe(true)
    }
  })

  it('give half-open firmware ranges that are not empty', () => {
    const branches = vulnerable.flatMap((row) => row.firmware?.branches ?? [])
    expect(branches.length).toBeGreaterThan(5)
    for (const { from, below } of branches) {
      expect(from).toMatch(HEX4)
      expect(below).toMatch(HEX4)
      expect(from < below).toBe(true)
    }
  })

  it('require the version in the name if a row covers one version of a product', () => {
    for (const row of vulnerable.filter((r) => r.match === 'id' && /\bv\d+\.\d+\b/.test(r.product)))
      expect(row.when?.product, row.id).toBeDefined()
  })

  it('never match a weakness by nothing', () => {
    for (const row of vulnerable) {
      if (row.match === 'strings') expect(patterns(row.when).length, row.id).toBeGreaterThan(0)
      if (row.match === 'id') expect(row.vid, row.id).not.toBeNull()
      // A whole vendor is never more than a family.
      if (row.match === 'id' && !row.pid) expect(row.confidence, row.id).toBe('family')
    }
  })
})

import { createKnowledge } from '@portcullis/domain'
import { buildDevice } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { evaluate, knowledge } from './knowledge-data.ts'

const own = createKnowledge({
  ...knowledge.sources,
  registries: {
    sources: {
      owner: { url: '', version: '1', date: '2031-05-04', licence: 'CC0-1.0', vid: '046D' },
      list: { url: '', version: '1', date: '2031-05-04', licence: 'CC0-1.0' },
    },
    products: {
      '046D:C52B': ['owner', 'Harp', 'Harp Makers'],
      '046D:FF00-FF02': ['owner', 'Harp family'],
      '046D:FF01': ['owner', 'Harp Solo', 'Solo Makers'],
      '0951:1666': ['list', 'Another name'],
      '0951:FFF0': ['list', 'Only here'],
    },
  },
})

describe('registered products', () => {
  it('have the name and maker of the list that assigns their ids', () => {
    expect([own.productName('046D', 'C52B'), own.vendorName('046D', 'C52B')]).toEqual(['Harp', 'Harp Makers'])
    expect([own.productName('046D', 'FF01'), own.vendorName('046D', 'FF01')]).toEqual(['Harp Solo', 'Solo Makers'])
    // The list names no maker: the owner of the vendor id is not shown in its place.
    expect([own.productName('046D', 'FF02'), own.vendorName('046D', 'FF02')]).toEqual(['Harp family', null])
    expect(own.productName('046D', 'FF03')).toBeNull()
    expect(own.vendorName('046D', 'FF03')).toBe('Logitech, Inc.')
  })

  it('of other lists only add names', () => {
    expect(own.productName('0951', '1666')).toBe(knowledge.productName('0951', '1666'))
    expect(own.productName('0951', 'FFF0')).toBe('Only here')
    expect(own.vendorName('0951', 'FFF0')).toBe(knowledge.vendorName('0951'))
  })

  it('of all six shipped lists are found', () => {
    const { products } = knowledge.sources.registries
    const sources = new Set(Object.values(products).map(([source]) => source))
    expect([...sources].sort()).toEqual(Object.keys(knowledge.sources.registries.sources).sort())
    for (const [key, [source, name, maker = null]] of Object.entries(products)) {
      const [vid = '', pid = ''] = key.split(/[:-]/)
      if (knowledge.sources.registries.sources[source ?? '']?.vid === undefined) continue
      expect([knowledge.productName(vid, pid), knowledge.vendorName(vid, pid)], key).toEqual([name, maker])
    }
  })

  it('are named in the finding about a device with their ids', () => {
    const { attackTool } = evaluate(buildDevice({ vid: '2E8A', pid: '10AA', interfaces: ['03:01:01', '08:06:50'] }))
    expect(attackTool?.name).toContain('ids of KeyForge Macropad device')
    expect(attackTool?.evidence).toContain('the ids are registered for KeyForge Macropad device (raspberrypi)')
  })
})

describe('vulnerabilities', () => {
  const found = (vid: string, pid: string, more: object = {}) =>
    evaluate(buildDevice({ vid, pid, interfaces: ['03:01:01'], ...more })).vulnerabilities.map((v) => [
      v.id,
      v.confidence,
    ])

  it('of a product match its own strings if other products share its ids', () => {
    const board = { manufacturer: 'Cvitek', product: 'RNDIS', interfaces: ['02:02:ff', '0a:00:00'] }
    expect(found('3346', '1009', board)).toEqual([])
    expect(found('3346', '1009', { product: 'NanoKVM' })).toEqual([['CVE-2026-32296', 'model']])
  })

  it('of a product without own strings say nothing about a device with shared ids', () => {
    expect(found('04B4', '0060', { product: 'Wireless Mouse' })).toEqual([['Bastille #6', 'family']])
    expect(found('046D', 'C539', { product: 'USB Receiver' }).map(([, confidence]) => confidence)).toEqual([
      'family',
      'family',
    ])
  })

  it('match only the revisions that their source states', () => {
    const ids = (bcdDevice: string) => found('046D', 'C52B', { bcdDevice }).map(([id]) => id)
    for (const revision of ['1201', '1203']) expect(ids(revision), revision).toContain('CVE-2016-10761')
    for (const revision of ['1200', '1204', '2401']) expect(ids(revision), revision).not.toContain('CVE-2016-10761')
  })

  it('of software on the host are no findings about a device', () => {
    expect(found('0B95', '1790', { interfaces: ['ff:ff:00'] })).toEqual([])
    expect(found('17E9', '4307', { interfaces: ['ff:00:00'] })).toEqual([])
    expect(found('1532', '0084')).toEqual([])
    expect(found('1038', '1702')).toEqual([])
    expect(found('12D1', '1F01', { interfaces: ['08:06:50'] })).toEqual([])
    expect(found('12D1', '1C05', { product: 'EC156', interfaces: ['ff:ff:ff'] })).toEqual([])
  })
})

describe('security keys', () => {
  const key = { interfaces: ['03:00:00'], product: 'x' }
  it.each([
    ['2C97', '5015'],
    ['1FC9', 'F143'],
    ['534C', '0001'],
    ['20A0', '42DD'],
    ['1370', '0911'],
    ['04E6', '5A11'],
    ['047D', '8203'],
    ['08E6', '34D2'],
  ])('%s:%s has its kind without report descriptors, also beside a keyboard', (vid, pid) => {
    expect(evaluate(buildDevice({ ...key, vid, pid })).kind).toBe('Security Key')
    const typing = evaluate(buildDevice({ ...key, vid, pid, interfaces: ['03:01:01', '03:00:00', '0b:00:00'] }))
    expect(typing).toMatchObject({ kind: 'Security Key', kinds: expect.arrayContaining(['Keyboard']) })
    expect(typing.capabilities).toContain('Keyboard')
  })
})

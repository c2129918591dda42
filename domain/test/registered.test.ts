import { createKnowledge } from '@portcullis/domain'
import { buildDevice } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { judge, knowledge } from './knowledge-data.ts'

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
    const { attackTool } = judge(buildDevice({ vid: '2E8A', pid: '10AA', interfaces: ['03:01:01', '08:06:50'] }))
    expect(attackTool?.name).toContain('ids of KeyForge Macropad device')
    expect(attackTool?.evidence).toContain('the ids are registered for KeyForge Macropad device (raspberrypi)')
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
    expect(judge(buildDevice({ ...key, vid, pid })).kind).toBe('Security Key')
    const typing = judge(buildDevice({ ...key, vid, pid, interfaces: ['03:01:01', '03:00:00', '0b:00:00'] }))
    expect(typing).toMatchObject({ kind: 'Security Key', kinds: expect.arrayContaining(['Keyboard']) })
    expect(typing.capabilities).toContain('Keyboard')
  })
})

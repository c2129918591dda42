import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  nextSort,
  parseSearchText,
  readView,
  searchText,
  sortDirection,
  type ViewSpec,
  writeView,
} from './view-state.ts'

const spec: ViewSpec = {
  filters: ['Status', 'Hashtags'],
  defaultSort: 'severity_desc',
  defaultColumns: ['host', 'status'],
}

describe('the state of a view in its address', () => {
  it('is the default for an empty address, and writes nothing for it', () => {
    const state = readView({}, spec)
    expect(state).toEqual({
      filters: {},
      search: '',
      sort: 'severity_desc',
      columns: ['host', 'status'],
      open: null,
      tab: null,
    })
    expect(writeView({}, spec, { sort: state.sort, columns: state.columns, search: '' })).toEqual({})
  })

  it('adds, changes and removes filters, and keeps the rest', () => {
    const one = writeView({ q: 'kiosk' }, spec, { filters: { Status: 'Armed' } })
    expect(one).toEqual({ q: 'kiosk', Status: 'Armed' })
    expect(writeView(one, spec, { filters: { Status: null } })).toEqual({ q: 'kiosk' })
  })

  it('takes the search by the name that links of the interface have, too, and writes its own', () => {
    const search = { globalSearch: 'Agent silent' }
    expect(readView(search, spec).search).toBe('Agent silent')
    expect(writeView(search, spec, { search: 'kiosk' })).toEqual({ q: 'kiosk' })
    expect(writeView(search, spec, { search: '' })).toEqual({})
  })

  it('knows a filter however it is spelt, and writes it as the interface does', () => {
    expect(readView({ hashtags: 'kiosk' }, spec).filters).toEqual({ Hashtags: 'kiosk' })
    expect(writeView({ hashtags: 'kiosk' }, spec, { filters: { Hashtags: 'lab' } })).toEqual({ Hashtags: 'lab' })
    expect(writeView({ hashtags: 'kiosk' }, spec, { filters: { Hashtags: null } })).toEqual({})
  })

  it('never reads a name that is not a filter of this view', () => {
    expect(readView({ Evil: '1', Status: 'Free' }, spec).filters).toEqual({ Status: 'Free' })
    expect(readView({ constructor: 'x' }, { ...spec, filters: [] }).filters).toEqual({})
  })

  it('round-trips any state through the text of an address', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(
        text,
        text,
        fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1 }),
        (status, search, columns) => {
          const written = writeView({}, spec, { filters: { Status: status }, search, columns, open: 'a/b|c' })
          const read = readView(parseSearchText(searchText({ ...written })), spec)
          expect(read.filters.Status ?? '').toBe(status)
          expect(read).toMatchObject({ search, columns, open: 'a/b|c' })
        },
      ),
    )
  })

  it('takes the first of a name given twice', () => {
    expect(parseSearchText('?a=1&a=2')).toEqual({ a: '1' })
  })
})

describe('sorting by a click', () => {
  it('goes natural, reverse, default', () => {
    const first = nextSort('severity_desc', 'host', 'asc', 'severity_desc')
    const second = nextSort(first, 'host', 'asc', 'severity_desc')
    expect([first, second, nextSort(second, 'host', 'asc', 'severity_desc')]).toEqual([
      'host_asc',
      'host_desc',
      'severity_desc',
    ])
    expect([sortDirection(first, 'host'), sortDirection(first, 'x')]).toEqual(['asc', null])
  })
})

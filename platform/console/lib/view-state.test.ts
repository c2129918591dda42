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
  it('is the default for an empty address, which it does not extend', () => {
    const state = readView({}, spec)
    expect(state).toEqual({
      filters: {},
      search: '',
      query: '',
      sort: 'severity_desc',
      columns: ['host', 'status'],
      open: null,
      tab: null,
    })
    expect(writeView({}, spec, { sort: state.sort, columns: state.columns, search: '' })).toEqual({})
  })

  it('adds, changes and removes filters and keeps the rest', () => {
    const one = writeView({ q: 'kiosk' }, spec, { filters: { Status: 'Armed' } })
    expect(one).toEqual({ q: 'kiosk', Status: 'Armed' })
    expect(writeView(one, spec, { filters: { Status: null } })).toEqual({ q: 'kiosk' })
  })

  it('accepts the search parameter of API links and writes its own', () => {
    const search = { globalSearch: 'Host armed' }
    expect(readView(search, spec).search).toBe('Host armed')
    expect(writeView(search, spec, { search: 'kiosk' })).toEqual({ q: 'kiosk' })
    expect(writeView(search, spec, { search: '' })).toEqual({})
  })

  it('reads a query, whatever the case of its name', () => {
    const search = { Query: 'Status:Armed OR kiosk' }
    expect(readView(search, spec).query).toBe('Status:Armed OR kiosk')
    expect(writeView(search, spec, { query: 'NOT lab' })).toEqual({ query: 'NOT lab' })
    expect(writeView(search, spec, { query: '' })).toEqual({})
  })

  it('matches filter names in any case and writes them as in the API', () => {
    expect(readView({ hashtags: 'kiosk' }, spec).filters).toEqual({ Hashtags: 'kiosk' })
    expect(writeView({ hashtags: 'kiosk' }, spec, { filters: { Hashtags: 'lab' } })).toEqual({ Hashtags: 'lab' })
    expect(writeView({ hashtags: 'kiosk' }, spec, { filters: { Hashtags: null } })).toEqual({})
  })

  it('ignores names that are not filters of the view', () => {
    expect(readView({ Evil: '1', Status: 'Free' }, spec).filters).toEqual({ Status: 'Free' })
    expect(readView({ constructor: 'x' }, { ...spec, filters: [] }).filters).toEqual({})
  })

  it('survives a round trip through an address', () => {
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

  it('uses the first value of a repeated name', () => {
    expect(parseSearchText('?a=1&a=2')).toEqual({ a: '1' })
  })
})

describe('sorting by a click', () => {
  it('switches from natural to reverse to default order', () => {
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

import { describe, expect, it } from 'vitest'
import { readSaved, viewText } from './saved.ts'

const spec = { filters: ['Status', 'Hashtags'], columns: ['host', 'risk'] }

describe('a saved view', () => {
  it('has the same text whatever the order of its parts, without the open row', () => {
    expect(viewText({ sort: 'a_asc', Status: 'Armed', open: '1', tab: 'x' })).toBe('Status=Armed&sort=a_asc')
    expect(viewText({ Status: 'Armed', sort: 'a_asc' })).toBe('Status=Armed&sort=a_asc')
    expect(viewText({ q: undefined })).toBe('')
  })

  it('keeps what the list has, and names the rest', () => {
    expect(readSaved({ search: 'cols=host,gone&status=Armed&Colour=red' }, spec)).toEqual({
      text: 'cols=host&status=Armed',
      missing: ['gone', 'Colour'],
    })
    const query = 'query=Status%3AArmed+OR+kiosk'
    expect(readSaved({ search: query }, spec)).toEqual({ text: 'query=Status:Armed+OR+kiosk', missing: [] })
    expect(readSaved({ search: 'cols=gone' }, spec)).toEqual({ text: '', missing: ['gone'] })
    expect(readSaved({ search: '' }, spec)).toEqual({ text: '', missing: [] })
  })
})

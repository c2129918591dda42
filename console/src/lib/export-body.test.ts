import { describe, expect, it } from 'vitest'
import { exportBody } from './export-body.ts'

describe('the body of an export', () => {
  it('has the filters of the list by the names a body has, and the columns', () => {
    expect(exportBody({ HasKnownAttackTools: 'true', GlobalSearch: 'kiosk' }, ['hostIdentifier'])).toEqual({
      hasKnownAttackTools: 'true',
      globalSearch: 'kiosk',
      columns: ['hostIdentifier'],
    })
  })

  it('without columns is every column', () => {
    expect(exportBody({})).toEqual({})
  })
})

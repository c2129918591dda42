import { describe, expect, it } from 'vitest'
import { exportBody } from './export-body.ts'

describe('the body of an export', () => {
  it('contains the filters of the list, by their names in the body, and the columns', () => {
    expect(exportBody({ HasKnownAttackTools: 'true', GlobalSearch: 'kiosk' }, ['hostIdentifier'])).toEqual({
      hasKnownAttackTools: 'true',
      globalSearch: 'kiosk',
      columns: ['hostIdentifier'],
    })
  })

  it('omits the columns to export all of them', () => {
    expect(exportBody({})).toEqual({})
  })
})

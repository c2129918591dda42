import { describe, expect, it } from 'vitest'
import { exportedLists } from './connection-exports.ts'

describe('files of the polled computers', () => {
  it('hold what is shown where the filter is known to both', () => {
    const query = { ComputerName: 'lab', IsOverrideDefaults: 'true', SortBy: 'computerName_desc' }
    const [runs, computers] = exportedLists(query, ['computerName', 'cause'], 12)
    expect(runs).toMatchObject({ query, columns: ['computerName', 'cause'], rows: 12 })
    expect(computers).toMatchObject({ query, rows: 12, label: 'Computers: 12, as shown' })
    expect(computers?.columns).toBeUndefined()
  })

  it('say that computers are given whatever their last run, and ask for nothing unknown', () => {
    const query = { Cause: 'connect-timeout', GlobalSearch: 'refused', ComputerName: 'lab', SortBy: 'nextRun_asc' }
    const [, computers] = exportedLists(query, [], 12)
    expect(computers).toMatchObject({
      query: { ComputerName: 'lab' },
      rows: null,
      label: 'Computers, however their last run went',
    })
    expect(computers?.query).not.toHaveProperty('SortBy')
  })
})

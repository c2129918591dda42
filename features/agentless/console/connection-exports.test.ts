import { describe, expect, it } from 'vitest'
import { exportedLists } from './connection-exports.ts'

describe('exports of agentless hosts', () => {
  it('contain the shown rows if both lists support the filters', () => {
    const query = { ComputerName: 'lab', IsOverrideDefaults: 'true', SortBy: 'computerName_desc' }
    const [runs, computers] = exportedLists(query, ['computerName', 'cause'], 12)
    expect(runs).toMatchObject({ query, columns: ['computerName', 'cause'], rows: 12 })
    expect(computers).toMatchObject({ query, rows: 12, label: 'Hosts: 12, as shown' })
    expect(computers?.columns).toBeUndefined()
  })

  it('contain hosts regardless of their last poll, and no unknown parameters', () => {
    const query = { Cause: 'connect-timeout', GlobalSearch: 'refused', ComputerName: 'lab', SortBy: 'nextRun_asc' }
    const [, computers] = exportedLists(query, [], 12)
    expect(computers).toMatchObject({
      query: { ComputerName: 'lab' },
      rows: null,
      label: 'Hosts, regardless of their last poll',
    })
    expect(computers?.query).not.toHaveProperty('SortBy')
  })
})

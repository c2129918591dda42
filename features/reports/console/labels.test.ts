import { expect, it } from 'vitest'
import { contentOf, draftOf, withList } from './draft.ts'
import { cadenceText, resultOf, targetText } from './labels.ts'
import { scheduleSearch } from './shared/schedule-address.ts'

it('describes when a schedule runs', () => {
  const at = { time: '06:30', timeZone: 'Europe/Berlin' }
  expect(cadenceText({ every: 'day', ...at })).toBe('daily at 06:30, Europe/Berlin')
  expect(cadenceText({ every: 'week', weekday: 7, ...at })).toBe('every Sunday at 06:30, Europe/Berlin')
  const days = [1, 2, 3, 11, 22, 30, 31].map((day) => cadenceText({ every: 'month', day, ...at }).split(' of ')[0])
  expect(days).toEqual([
    'on the 1st',
    'on the 2nd',
    'on the 3rd',
    'on the 11th',
    'on the 22nd',
    'on the 30th',
    'on the last day',
  ])
})

it('describes the recipients, and marks a file that was not delivered', () => {
  expect(targetText([], null)).toBe('download only')
  expect(targetText(['a@b.c'], 'weekly')).toBe('a@b.c, folder weekly')
  expect(targetText(['a@b.c', 'd@e.f'], null)).toBe('2 recipients')
  expect(resultOf({ state: 'completed', error: 'refused' })).toEqual({ word: 'Completed, not delivered', isBad: true })
  expect(resultOf({ state: 'completed', error: '' })).toEqual({ word: 'Completed', isBad: false })
})

it('starts with what the list shows, and drops what another list does not have', () => {
  const search = scheduleSearch({
    list: 'agents',
    query: { Status: 'Armed', GlobalSearch: 'kiosk', SortBy: 'severity_desc' },
    columns: ['hostIdentifier', 'severity'],
  })
  const draft = draftOf(search, 'Asia/Tokyo')
  expect(contentOf(draft)).toMatchObject({
    list: 'agents',
    filter: { status: 'Armed', globalSearch: 'kiosk' },
    columns: ['hostIdentifier', 'severity'],
    sortBy: 'severity_desc',
    cadence: { timeZone: 'Asia/Tokyo' },
  })
  expect(contentOf(withList({ ...draft, range: 'week' }, 'connections'))).toMatchObject({
    filter: { globalSearch: 'kiosk' },
    columns: null,
    sortBy: null,
    range: 'all',
  })
  expect(draftOf({ list: 'passwords', columns: 'x' }, 'UTC')).toMatchObject({ list: 'agents', columns: [] })
})

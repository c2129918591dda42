import { withPageWords } from '../words.ts'

export const strings = withPageWords({
  searchList: 'Search this list',
  clearSearch: 'Clear search',
  removeFilter: 'Remove filter {label}',
  addFilter: 'Filter',
  contains: '{label} contains',
  apply: 'Apply',
  findTag: 'Find a tag',
  noTags: 'No tags found.',
  lastHour: 'Last hour',
  until: 'Until',
})

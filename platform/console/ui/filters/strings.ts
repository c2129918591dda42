import { withPageWords } from '../words.ts'

export const strings = withPageWords({
  searchList: 'Search this list',
  clearSearch: 'Clear search',
  removeFilter: 'Remove filter {label}',
  addFilter: 'Filter',
  contains: '{label} contains',
  is: '{label} is',
  deviceCount: '{count, plural, one {# device} other {# devices}}',
  nothingSuggested: 'No known device contains this text.',
  apply: 'Apply',
  findTag: 'Find a tag',
  noTags: 'No tags found.',
  lastHour: 'Last hour',
  until: 'Until',
})

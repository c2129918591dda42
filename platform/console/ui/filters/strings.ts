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
  today: 'Today',
  yesterday: 'Yesterday',
  lastHour: 'Last hour',
  lastHours24: 'Last 24 hours',
  lastDays7: 'Last 7 days',
  lastDays30: 'Last 30 days',
  relativeToNow: 'Relative to now',
  endsBeforeItBegins: 'The range ends before it begins.',
  until: 'Until',
})

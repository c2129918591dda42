import { messages } from '../../lib/messages.ts'

export const strings = messages({
  searchThisList: 'Search this list',
  clearTheSearch: 'Clear the search',
  removeLabel: 'Remove {label}',
  filter: 'Filter',
  clear: 'Clear',
  labelContains: '{label} contains',
  set: 'Set',
  findATag: 'Find a tag',
  noSuchTag: 'No such tag.',
  lastHour: 'Last hour',
  from: 'From',
  until: 'Until',
  yes: 'Yes',
  no: 'No',
  sinceFrom: 'since {from}',
  untilTo: 'until {to}',
  fromToTo: '{from} to {to}',
})

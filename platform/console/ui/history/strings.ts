import { withPageWords } from '../words.ts'

export const strings = withPageWords({
  versions: 'Versions',
  newer: 'Newer',
})

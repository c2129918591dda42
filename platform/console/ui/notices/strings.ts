import { withPageWords } from '../words.ts'

export const strings = withPageWords({
  waiting: 'waiting',
  failed: 'refused',
  dropped: 'dropped',
})

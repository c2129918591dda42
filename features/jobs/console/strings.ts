import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  cancelJob: 'Cancel {title}',
  closeJob: 'Close {title}',
  focusJobs: 'Go to the job tray',
  jobs: 'Jobs',
  exportName: 'Export {name}',
  running: '{done, number} of {total, number}',
  completed: 'Done, {done, number} of {total, number}',
  completedWithFailures: 'Finished, {done, number} done, {failed, number} failed',
  cancelledJob: 'Cancelled, {done, number} of {total, number} done',
  runningWithFailures: '{done, number} of {total, number}, {failed, number} failed',
  starting: 'Starting',
  failedBecause: 'Failed: {message}',
  saved: 'Saved, {size}',
  waitingForServer: 'Waiting for the server',
  progress: '{percent, number} %, {size}',
  announcement: '{title}: {state}',
})

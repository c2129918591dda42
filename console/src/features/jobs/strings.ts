import { messages } from '../../lib/messages.ts'

export const strings = messages({
  cancelTitle: 'Cancel {title}',
  cancel: 'cancel',
  closeTitle: 'Close {title}',
  goToTheJobsAtThe: 'Go to the jobs at the foot of the page',
  jobs: 'Jobs',
  exportName: 'Export {name}',
  exportNameOne: 'Export {name}: {one}',
  failedNotCarriedOut: ', {failed, number} not carried out',
  doneOfTotalFaults: '{done, number} of {total, number}{faults}',
  doneDoneOfTotal: 'done, {done, number} of {total, number}',
  endedDoneDoneFaults: 'ended, {done, number} done{faults}',
  cancelledDoneOfTotalDone: 'cancelled, {done, number} of {total, number} done',
})

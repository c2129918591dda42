import { messages } from '../../lib/messages.ts'

export const strings = messages({
  thisHostIsNotHereAny: 'This host is not here any more.',
  nameQuarantinesThisHostAlreadyThat: '{name} quarantines this host already; that stays as it is.',
  nameIsBeingAskedTheHost: '{name} is being asked; the host shows how it goes.',
  theAncPolicy: 'the ANC policy',
  strongIsTakenOffTheNetwork:
    '{strong} is taken off the network by {value} {deviceText}. It may not reach this server then, either.',
  itReportsNoNetworkInterfaceThat:
    'It reports no network interface that is up, so there is no address to quarantine. Wait for its next report.',
  neitherCiscoIseNorCounteractIs: 'Neither Cisco ISE nor CounterACT is in use.',
  system: 'System',
  reason: 'Reason',
  forTheStoryTheAuditAnd: 'For the story, the audit and, where it is set up, the system.',
  endsAfterHours: 'Ends after hours',
  untilAPersonTakesItBack: 'Until a person takes it back',
  quarantineThisHost: 'Quarantine this host',
  waitsForAPerson: 'Waits for a person',
  aboutToBeAskedFor: 'About to be asked for',
  beingAskedFor: 'Being asked for',
  takenNotReadBackYet: 'Taken, not read back yet',
  inForce: 'In force',
  beingTakenBack: 'Being taken back',
  takenBack: 'Taken back',
  failed: 'Failed',
  dismissed: 'Dismissed',
})

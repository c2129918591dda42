import { nacSystemNames, type Quarantine, type QuarantineState, type QuarantineStepName } from '@portcullis/contract'

/** Steps of a story in words; `{system}` carries it out. */
const stepWords: Readonly<Record<QuarantineStepName, string>> = {
  asked: 'Asked for',
  waiting: 'Waits for a person',
  approved: 'Approved',
  dismissed: 'Dismissed',
  applying: 'Sent to {system}',
  applied: 'Taken by {system}',
  verified: 'Read back: in force',
  attributes: 'Reason written to {system}',
  delayed: 'Tried again later',
  failed: 'Failed',
  clear: 'Taking back asked for',
  cleared: 'Read back: gone',
}

/** What comes next; states that are an end have nothing. */
const nextWords: Readonly<Partial<Record<QuarantineState, string>>> = {
  wanted: '{system} is asked',
  applying: '{system} is asked',
  applied: 'Read back from {system}',
  clearing: 'Taken back, and read back that it is gone',
}

export interface StoryLine {
  key: string
  words: string
  /** One that waits is open until somebody decides. */
  mark: 'done' | 'failed' | 'open'
  seen: string
  by: string
  at: string
}

/** The story of a quarantine in words, oldest first, and what is under way. */
export const timelineOf = ({ system, state, timeline }: Pick<Quarantine, 'system' | 'state' | 'timeline'>) => {
  const named = (text: string) => text.replace('{system}', nacSystemNames[system])
  const next = nextWords[state]
  return {
    lines: timeline.map(
      ({ step, ok, message, by, at }, index): StoryLine => ({
        key: `${index} ${at}`,
        words: named(stepWords[step]),
        mark: step === 'waiting' ? (state === 'waiting' ? 'open' : 'done') : ok ? 'done' : 'failed',
        seen: message,
        by,
        at,
      }),
    ),
    next: next === undefined ? null : named(next),
  }
}

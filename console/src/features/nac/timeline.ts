import { nacSystemNames, type Quarantine, type QuarantineState, type QuarantineStepName } from '@portcullis/contract'
import { strings } from './strings.ts'

/** Steps of a story in words; `{system}` carries it out. */
const stepWords: Readonly<Record<QuarantineStepName, string>> = {
  asked: strings.askedFor,
  waiting: strings.waitsForAPerson,
  approved: strings.approved,
  dismissed: strings.dismissed,
  applying: 'Sent to {system}',
  applied: 'Taken by {system}',
  verified: strings.readBackInForce,
  attributes: 'Reason written to {system}',
  delayed: strings.triedAgainLater,
  failed: strings.failed,
  clear: strings.takingBackAskedFor,
  cleared: strings.readBackGone,
}

/** What comes next; states that are an end have nothing. */
const nextWords: Readonly<Partial<Record<QuarantineState, string>>> = {
  wanted: '{system} is asked',
  applying: '{system} is asked',
  applied: 'Read back from {system}',
  clearing: strings.takenBackAndReadBackThat,
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

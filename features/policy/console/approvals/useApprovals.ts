import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { useState } from 'react'
import type { BulkQuestion } from '../shared/BulkDecideDialog.tsx'
import type { DecideQuestion } from '../shared/DecideDialog.tsx'
import type { DecideStart } from '../shared/decide.ts'
import { strings } from './strings.ts'
import { useInbox } from './useInbox.ts'
import { starts, useQuestions } from './useQuestions.ts'
import { chosenCount, cursorOf, type Line, linesOf, modelKey, nextLine, toggled } from './waiting.ts'

/** State of the list: cursor, selection and open dialog. */
const useApprovalState = () => {
  const { session } = useServices()
  const questions = useQuestions()
  const [pointed, setPointed] = useState<{ key: string; at: number } | null>(null)
  const [question, setQuestion] = useState<DecideQuestion | null>(null)
  const [decided, setDecided] = useState<string | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [bulk, setBulk] = useState<BulkQuestion | null>(null)
  const inbox = useInbox(pointed === null && question === null && bulk === null && chosen.size === 0, decided)
  const { view, newest } = inbox
  const { open } = view.state
  const all = inbox.shown ?? []
  const lines = linesOf(all, open)
  // After a decision, the cursor is on the line that follows.
  const cursor = cursorOf(lines, pointed)
  const setCursor = (key: string | null) =>
    setPointed(key === null ? null : { key, at: lines.findIndex((line) => line.key === key) })
  const clear = () => setChosen(new Set())
  const count = chosenCount(chosen, all)
  return {
    inbox,
    all,
    lines,
    open,
    canDecide: session.may('fleet:write'),
    cursor,
    setCursor,
    toggle: (key: string) => view.set({ open: open === key ? null : key }, { replace: open !== null }),
    close: () => view.set({ open: null }, { replace: true }),
    chosen,
    count,
    clear,
    choose: (line: Line) => setChosen(toggled(chosen, line)),
    chooseAll: () => setChosen(new Set(all.map(modelKey))),
    ask: async (line: Line, start: DecideStart) => {
      setCursor(line.key)
      const subject = await questions.subjectOf(line)
      if (subject !== null) setQuestion({ subject, start })
    },
    /** Asks about the whole selection, including devices that the page does not list. */
    askAll: async (effect: BulkQuestion['effect']) => {
      const devices = await questions.devicesOf(chosen, count, all, inbox.asked)
      if (devices !== null) setBulk({ effect, ...devices, done: clear })
    },
    question,
    closeQuestion: () => {
      setDecided(question === null ? null : modelKey(question.subject))
      setQuestion(null)
      void newest.refetch()
    },
    bulk,
    closeBulk: () => {
      setBulk(null)
      void newest.refetch()
    },
  }
}

export type Approvals = ReturnType<typeof useApprovalState>

/** State of the page of device approvals, with its keys. */
export const useApprovals = (): Approvals => {
  const state = useApprovalState()
  const { lines, cursor, setCursor, open, chosen } = state
  const current = lines.find(({ key }) => key === cursor)
  const move = (step: 1 | -1) => {
    const next = nextLine(lines, cursor, step)
    setCursor(next)
    if (next !== null) document.querySelector(`[data-line="${CSS.escape(next)}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const leave = () => {
    if (open === null && chosen.size > 0) state.clear()
    else if (open === null) setCursor(null)
    else {
      setCursor(open)
      state.close()
    }
  }
  const decide = (start: DecideStart) => {
    // Without a selection, the key does nothing.
    if (chosen.size > 0) void state.askAll(start.effect === 'deny' ? 'deny' : 'allow')
    else if (current !== undefined) void state.ask(current, start)
  }
  useKeys([
    { keys: 'j', description: strings.next, run: () => move(1) },
    { keys: 'k', description: strings.previous, run: () => move(-1) },
    { keys: 'ArrowDown', description: strings.next, run: () => move(1) },
    { keys: 'ArrowUp', description: strings.previous, run: () => move(-1) },
    {
      keys: 'Enter',
      description: strings.showDevices,
      run: () => {
        if (current?.device === null) state.toggle(current.key)
      },
    },
    { keys: 'Escape', description: strings.close, run: leave },
    ...(state.canDecide
      ? [
          { keys: 'x', description: strings.selectRow, run: () => current !== undefined && state.choose(current) },
          ...starts.map(({ keys, description, start }) => ({ keys, description, run: () => decide(start) })),
        ]
      : []),
  ])
  return state
}

import { fieldMessage, isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { type RefObject, useEffect, useState } from 'react'
import type { ConfigMap, ConfigSaved } from '#features/contract.ts'
import {
  bodyOf,
  type Edits,
  edited,
  faultOf,
  isMoved,
  itemsOf,
  noEdits,
  rereadBy,
  shownText,
  withLabels,
} from './draft.ts'
import type { SettingPage } from './pages.ts'
import { faultsOfTest, focusField } from './shared/focus-field.ts'
import { strings } from './strings.ts'
import { type GroupTestState, useGroupTest } from './useGroupTest.ts'
import { faultyItems, useSave } from './useSave.ts'

/** Moves the focus to the first wrong field after a refusal by the server or the console, or after a failed test. */
const useFocusOnFaults = (
  form: RefObject<HTMLElement | null>,
  failure: unknown,
  faults: Readonly<Record<string, string>>,
  test: GroupTestState,
) => {
  const focusOn = (wrong: readonly string[]) => focusField(form.current, (name) => wrong.includes(name))
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each refusal
  useEffect(() => focusOn(faultyItems(failure)), [failure])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each try
  useEffect(() => focusOn(Object.keys(faults)), [faults])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each test
  useEffect(
    () => focusOn([...faultyItems(test.failure), ...Object.keys(faultsOfTest(test.result))]),
    [test.failure, test.result],
  )
}

/** Returns the errors of the changed items, by name. */
const faultsIn = (group: SettingPage['group'], stored: ConfigMap, edits: Edits): Readonly<Record<string, string>> => {
  const body = bodyOf(group, stored, edits)
  return Object.fromEntries(
    itemsOf(group).flatMap(([name, item]) => {
      const fault = Object.hasOwn(body, name) ? faultOf(item, shownText(name, stored, edits)) : null
      return fault === null ? [] : [[name, fault]]
    }),
  )
}

/** Fields that were changed since the server reported errors, which no longer apply to them. */
const useChangedFields = () => {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set())
  return {
    has: (name: string): boolean => names.has(name),
    touch: (name: string) => setNames((old) => new Set([...old, name])),
    reset: (changed: readonly string[] = []) => setNames(new Set(changed)),
  }
}

const savedText = ({ changes, version }: ConfigSaved): string =>
  changes.length === 0 ? strings.noChanges : strings.savedVersion({ version })

/** State of the form of a group: entered values, errors, test and saving. */
export const useGroupForm = (page: SettingPage, stored: ConfigMap, form: RefObject<HTMLElement | null>) => {
  const group = page.group
  const [edits, setEdits] = useState<Edits>(noEdits)
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({})
  const changed = useChangedFields()
  const [status, setStatus] = useState('')
  const [isAsking, setIsAsking] = useState(false)
  const { busy, failure, save, forget } = useSave(page)
  const test = useGroupTest(group)
  const body = bodyOf(group, stored, edits)
  const names = itemsOf(group, page.names).map(([name]) => name)
  const named = faultyItems(failure)
  const isStored = isStoredRequest(failure)
  const isAtField = named.length > 0 && named.every((name) => names.includes(name))

  const tested = faultsOfTest(test.result)
  useFocusOnFaults(form, failure, faults, test)
  const store = async () => {
    changed.reset()
    const saved = await save(body, edits.read, (now) => setEdits((old) => rereadBy(old, now)))
    if (saved === null) return
    setEdits(noEdits)
    setStatus(savedText(saved))
  }
  return {
    edits,
    body,
    busy,
    failure,
    test,
    status,
    isAtField,
    /** The changes wait for a second approver. Further changes are another request. */
    isStored,
    isDirty: Object.keys(body).length > 0,
    /** The changes are shown for confirmation. */
    isAsking,
    stopAsking: () => setIsAsking(false),
    store,
    enter: (name: string, text: string) => {
      setStatus('')
      if (isStored) forget()
      changed.touch(name)
      setEdits((old) => ({ ...edited(old, name, stored), texts: { ...old.texts, [name]: text } }))
    },
    touch: changed.touch,
    remove: (name: string, removed: boolean) => {
      if (isStored) forget()
      setEdits((old) => ({
        ...edited(old, name, stored),
        removed: removed ? [...old.removed, name] : old.removed.filter((other) => other !== name),
      }))
    },
    errorOf: (name: string): string | undefined => {
      if (changed.has(name)) return undefined
      const found = faults[name] ?? fieldMessage(failure, name) ?? fieldMessage(test.failure, name) ?? tested[name]
      return found === undefined ? undefined : withLabels(found)
    },
    runTest: (values: Record<string, string | null>) => {
      changed.reset()
      void test.start(values)
    },
    discard: () => {
      setEdits(noEdits)
      changed.reset(names)
      setStatus('')
      forget()
    },
    submit: () => {
      if (isStored) return
      const found = faultsIn(group, stored, edits)
      setFaults(found)
      changed.reset()
      if (Object.keys(found).length > 0) forget()
      else if (Object.keys(body).length === 0) setStatus(strings.noChanges)
      else if (page.asks !== undefined && isMoved(body, stored, page.asks.names)) setIsAsking(true)
      else void store()
    },
  }
}

import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { listQueryOf } from '@portcullis/platform/console/lib/list-query.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useView } from '@portcullis/platform/console/ui/useView.ts'
import { useMemo, useState } from 'react'
import { approvalList, getPolicy, policyApprovals } from '#features/contract.ts'
import { changesBetween, type Waiting, withModel } from './waiting.ts'

export const approvalsTable = listTable(approvalList)

// Models on the most hosts come first. For more models than these, rules are the better tool.
const shownModels = 200
// The server may report changes every second; more frequent reads would show nothing new.
const refreshGap = 2_000

/** The models on the screen, and the response and filter they come from. */
interface Shown {
  shown: readonly Waiting[] | null
  latest: readonly Waiting[] | undefined
  asked: Record<string, string>
  decided: string | null
}

/**
 * Returns the models on the screen. They do not change while the user works with them (`isCalm` is false), except for the
 * model of the last decision.
 */
const useShown = (
  latest: readonly Waiting[] | undefined,
  asked: Record<string, string>,
  isCalm: boolean,
  decided: string | null,
) => {
  const [current, setCurrent] = useState<Shown>({ shown: null, latest: undefined, asked, decided: null })
  const { shown } = current
  const follows = isCalm || shown === null || current.asked !== asked
  const isOld = current.latest !== latest || current.asked !== asked || current.decided !== decided
  if (latest !== undefined && (isOld || (follows && shown !== latest))) {
    const kept = decided === null || shown === null ? shown : withModel(shown, latest, decided)
    setCurrent({ shown: follows ? latest : kept, latest, asked, decided })
  }
  return { shown, showLatest: () => setCurrent({ ...current, shown: latest ?? null }) }
}

/** Reads the models that await approval, with the filters of the URL. */
export const useInbox = (isIdle: boolean, decided: string | null) => {
  const { api, clock } = useServices()
  const view = useView('/inside/approvals', approvalsTable.view)
  const { filters, search, query: condition, sort } = view.state
  const asked = useMemo(
    () => listQueryOf({ filters, search, query: condition, sort }, approvalsTable.view, clock.now()),
    [clock, filters, search, condition, sort],
  )
  const query = { query: { ...asked, PageSize: shownModels } }
  const [pointerInside, setPointerInside] = useState(false)
  // The same number as in the navigation.
  const policy = useRead(['policy'], getPolicy)
  const newest = useRead(['approvals', asked], policyApprovals, { ...query })
  useLiveRefresh(['peripherals', 'agents'], refreshGap, () => void newest.refetch())
  const latest = newest.data?.data
  const { shown, showLatest } = useShown(latest, asked, isIdle && !pointerInside, decided)
  return {
    view,
    asked,
    isFiltered: Object.keys(asked).length > 0,
    newest,
    waiting: policy.data?.waiting,
    /** Null before the first response. */
    shown,
    /** Number of models that differ from the latest response. */
    changes: shown === null || latest === undefined ? 0 : changesBetween(shown, latest),
    showLatest,
    setPointerInside,
    check: (text: string) => api.call(policyApprovals, { query: { Query: text, PageSize: 1 } }),
    curl: () => curlOf(policyApprovals, query),
  }
}

export type Inbox = ReturnType<typeof useInbox>

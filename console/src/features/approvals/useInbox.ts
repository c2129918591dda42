import { getPolicy, policyApprovals } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { useServices } from '../../lib/services.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useView } from '../../ui/useView.ts'
import { approvalsView } from './approvals.view.ts'
import { changesBetween, type Waiting, withModel } from './waiting.ts'

// The models of most hosts come first; who has more than these writes rules.
const shownModels = 200
// The server may tell of changes every second; an inbox that is read again more often shows nothing new.
const refreshGap = 2_000

/** What is on the screen, and what it was made of. */
interface Stand {
  shown: readonly Waiting[] | null
  latest: readonly Waiting[] | undefined
  asked: Record<string, string>
  decided: string | null
}

/**
 * The models on the screen. They stay while somebody looks at them (`isCalm` is false); the model that was decided about
 * last follows the server at once.
 */
const useStand = (
  latest: readonly Waiting[] | undefined,
  asked: Record<string, string>,
  isCalm: boolean,
  decided: string | null,
) => {
  const [stand, setStand] = useState<Stand>({ shown: null, latest: undefined, asked, decided: null })
  const { shown } = stand
  const follows = isCalm || shown === null || stand.asked !== asked
  const isOld = stand.latest !== latest || stand.asked !== asked || stand.decided !== decided
  if (latest !== undefined && (isOld || (follows && shown !== latest))) {
    const kept = decided === null || shown === null ? shown : withModel(shown, latest, decided)
    setStand({ shown: follows ? latest : kept, latest, asked, decided })
  }
  return { shown, showLatest: () => setStand({ ...stand, shown: latest ?? null }) }
}

/** Reads what waits for a decision, as the address filters it. */
export const useInbox = (isIdle: boolean, decided: string | null) => {
  const { api } = useServices()
  const view = useView('/inside/approvals', approvalsView)
  const { filters, search, sort } = view.state
  const asked = useMemo(() => listQueryOf({ filters, search, sort }, approvalsView), [filters, search, sort])
  const query = { query: { ...asked, PageSize: shownModels } }
  const [pointerInside, setPointerInside] = useState(false)
  // The same number as in the navigation.
  const policy = useQuery({ queryKey: ['policy'], queryFn: ({ signal }) => api.call(getPolicy, { signal }) })
  const newest = useQuery({
    queryKey: ['approvals', asked],
    queryFn: ({ signal }) => api.call(policyApprovals, { ...query, signal }),
  })
  useLiveRefresh(['peripherals', 'agents'], refreshGap, () => void newest.refetch())
  const latest = newest.data?.data
  const { shown, showLatest } = useStand(latest, asked, isIdle && !pointerInside, decided)
  return {
    view,
    asked,
    isFiltered: Object.keys(asked).length > 0,
    newest,
    waiting: policy.data?.waiting,
    /** Null before the first answer. */
    shown,
    /** Models that differ from what the server says now. */
    changes: shown === null || latest === undefined ? 0 : changesBetween(shown, latest),
    showLatest,
    setPointerInside,
    curl: () => curlOf(window.location.origin, policyApprovals, query),
  }
}

export type Inbox = ReturnType<typeof useInbox>

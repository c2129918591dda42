import { type PolicyDraft, previewPolicy } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useServices } from '../../lib/services.tsx'

// A person who types faster than this does not wait for the answer; slower ones see it between two words.
const typingPause = 250

/** The value once it has stayed the same for a moment; compared by its text. */
const useSettled = (text: string | null): string | null => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingPause)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** What the server says a change of the rules would do, asked again as the change is written. Null: nothing to ask. */
export const usePreview = (draft: PolicyDraft | null) => {
  const { api } = useServices()
  const text = draft === null ? null : JSON.stringify(draft)
  const settled = useSettled(text)
  const answer = useQuery({
    queryKey: ['policy-preview', settled],
    queryFn: ({ signal }) => api.call(previewPolicy, { body: JSON.parse(settled as string) as PolicyDraft, signal }),
    enabled: settled !== null && text !== null,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 10_000,
  })
  return {
    preview: text === null ? undefined : answer.data,
    failure: text === null ? null : answer.error,
    /** What is shown belongs to an earlier draft. */
    isStale: text !== null && (text !== settled || answer.isFetching),
    retry: () => void answer.refetch(),
  }
}
